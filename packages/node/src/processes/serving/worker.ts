/** The serving thread: HTTP and the delivery of webhooks, on database connections of their own. */
import { parentPort } from "node:worker_threads";
import { startServing } from "./serving.ts";
import type { FromServing, ToServing } from "./thread.ts";

let serving: Awaited<ReturnType<typeof startServing>> | undefined;
let waking: Int32Array<SharedArrayBuffer> | undefined;

// Without what it was sent the thread is of no use: it ends, and so does the node.
parentPort!.on("messageerror", (error) => {
  throw error;
});

parentPort!.on("message", async (message: ToServing) => {
  switch (message.kind) {
    case "start":
      waking = message.waking;
      serving = await startServing(message.data, message.gatewayPort);
      parentPort!.postMessage({
        kind: "listening",
        port: serving.port,
        operationsPort: serving.operationsPort,
      } satisfies FromServing);
      return;
    case "wake":
      // Before it looks: what happens from now on is worth another look.
      if (waking) Atomics.store(waking, 0, 0);
      return serving?.wake();
    case "close":
      await serving?.close();
      parentPort!.close();
  }
});
