/**
 * State of the start: complete once the node has been in sync with its network. A node without peers is in sync when it
 * begins to forge.
 */
import { eventOfStart } from "../../events/node-events.ts";
import type { Environment } from "./environment.ts";
import type { NodeEventLog } from "./event-log.ts";

export type Readiness = {
  /** Must be called once, when the node is in sync for the first time: it has started. */
  reach(): void;
  /** Settles after `reach`. */
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
