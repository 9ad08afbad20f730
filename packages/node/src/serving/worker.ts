/** The serving thread: HTTP and the delivery of webhooks, on database connections of their own. */
import { parentPort } from "node:worker_threads";
import { startServing } from "./serving.ts";
import type { FromServing, ToServing } from "./thread.ts";

let serving: Awaited<ReturnType<typeof startServing>> | undefined;

parentPort!.on("message", async (message: ToServing) => {
  switch (message.kind) {
    case "start":
      serving = await startServing(message.data, message.gatewayPort);
      parentPort!.postMessage({
        kind: "listening",
        port: serving.port,
        operationsPort: serving.operationsPort,
      } satisfies FromServing);
      return;
    case "wake":
      return serving?.wake();
    case "close":
      await serving?.close();
      parentPort!.close();
  }
});
