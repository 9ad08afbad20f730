/** Entry of the process that inspects a database: it replies to one message, and may be killed at any time. */
import { constants, setPriority } from "node:os";
import { createNetwork, type NetworkFiles } from "@uniknode/protocol";
import { inspectDatabase } from "./damage.ts";

export type ToInspector = {
  readonly path: string;
  readonly files: NetworkFiles;
  /** See `InspectOptions`. */
  readonly forMs: number;
};

// All other work on this machine has priority.
setPriority(constants.priority.PRIORITY_LOW);
// The node ends it: Ctrl-C and systemd signal all processes of the node.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
process.once("message", ({ path, files, forMs }: ToInspector) => {
  process.send?.(inspectDatabase(path, { blocks: { network: createNetwork(files), forMs } }));
  process.disconnect();
});
