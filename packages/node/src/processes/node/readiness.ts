/** True if the node has been in sync with its network; a node without peers is in sync when it begins to forge. */
import { eventOfStart } from "../../events/node-events.ts";
import type { Environment } from "./environment.ts";
import type { NodeEventLog } from "./event-log.ts";

export type Readiness = {
  /** The node is in sync for the first time: it has started. To be called once. */
  reach(): void;
  /** Settles when it was reached. */
  readonly reached: Promise<void>;
};

export function createReadiness({
  report,
  nowMs,
}: Pick<NodeEventLog, "report"> & Pick<Environment, "nowMs">): Readiness {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    reach() {
      report(eventOfStart(nowMs()));
      resolve();
    },
    reached: promise,
  };
}
