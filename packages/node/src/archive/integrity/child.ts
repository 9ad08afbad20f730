/**
 * Entry of the process that inspects a database: it replies to one message, and may be killed at any time. SQLite cannot end a
 * long read from within: a thread reads, so that the process ends with its node.
 */
import { constants, setPriority } from "node:os";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { createNetwork, type NetworkFiles } from "@uniknode/protocol";
import { inspectDatabase } from "./damage.ts";

export type ToInspector = {
  readonly path: string;
  readonly files: NetworkFiles;
  /** See `InspectOptions`. */
  readonly forMs: number;
};

const HEAP_MB = 256;

if (isMainThread) {
  // All other work on this machine has priority.
  setPriority(constants.priority.PRIORITY_LOW);
  // The node ends it: Ctrl-C and systemd signal all processes of the node.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
  const die = () => process.kill(process.pid, "SIGKILL");
  process.once("disconnect", die);
  process.once("message", (message: ToInspector) => {
    const resourceLimits = { maxOldGenerationSizeMb: HEAP_MB };
    const thread = new Worker(new URL(import.meta.url), { workerData: message, resourceLimits });
    thread.once("message", (found) => {
      process.off("disconnect", die);
      process.send?.(found);
      process.disconnect();
    });
  });
} else {
  const { path, files, forMs } = workerData as ToInspector;
  parentPort?.postMessage(inspectDatabase(path, { blocks: { network: createNetwork(files), forMs } }));
}
