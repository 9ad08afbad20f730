/** The serving thread: HTTP and webhook deliveries, with separate database connections. */
import { flushCompileCache } from "node:module";
import { parentPort } from "node:worker_threads";
import { present } from "../../platform/present.ts";
import "../../platform/threads/own-imports.ts";
import type { ServingProcess } from "./assembly.ts";
import type { FromServing, ToServing } from "./thread.ts";

const port = present(parentPort, "the port of the parent thread");
// It is loaded once the module above has resolved its imports.
const loading = import("./node-sources.ts");
let serving: ServingProcess | undefined;
let notified: Int32Array<SharedArrayBuffer> | undefined;

// Without the content of a message, the thread cannot work: it ends, and so does the node.
port.on("messageerror", (error) => {
  throw error;
});

port.on("message", async (message: ToServing) => {
  switch (message.kind) {
    case "start":
      notified = message.notified;
      serving = await (await loading).serve(message.data, message.gatewayPort);
      // This precedes the settings of the heaps that the node changes: see `limitHeapGrowth`.
      flushCompileCache();
      port.postMessage({
        kind: "listening",
        port: serving.port,
        operationsPort: serving.operationsPort,
        consolePath: serving.consolePath,
      } satisfies FromServing);
      return;
    case "notify":
      // It is cleared before the thread reads the log: later events need another notification.
      if (notified) Atomics.store(notified, 0, 0);
      return serving?.notify();
    case "close":
      await serving?.close();
      port.close();
  }
});
