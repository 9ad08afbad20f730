/** Outcomes of calls that are not on disk yet: many share one write. */

import { present } from "../../platform/present.ts";
import type { Clock } from "../collaborators.ts";
import type { DeliveryQueue } from "../delivery-queue.ts";
import type { Queues } from "./active-queues.ts";
import type { Consequences, EndedAttempt } from "./consequences.ts";
import type { Lane, Queue } from "./lanes.ts";

/** An attempt whose outcome is not written yet, with its position in the queue. */
export type Unwritten = EndedAttempt & { readonly queue: Queue; readonly lane: Lane };

export type OutcomesDeps = {
  readonly deliveryQueue: Pick<DeliveryQueue, "record">;
  readonly queues: Pick<Queues, "end">;
  readonly consequences: Consequences;
  readonly clock: Pick<Clock, "nowMs">;
  /** Called after each outcome is on disk, or was dropped. */
  readonly onSettled?: (ended: Unwritten) => void;
};

export type Outcomes = {
  /** Returns the number of unwritten outcomes. */
  size(): number;
  add(outcome: Unwritten): void;
  /** Drops the outcomes of webhooks that another process owns, which repeats the calls. */
  drop(webhooks: ReadonlySet<number>): void;
  /**
   * Writes some outcomes in one transaction; must not be called before an earlier call has settled. Outcomes leave the
   * memory only after the write: a failed write loses none.
   */
  write(): Promise<void>;
};

/** Maximum outcomes per run: if a thousand targets do not respond, all calls time out at the same moment. */
const OUTCOMES_AT_ONCE = 100;

export function createOutcomes({
  deliveryQueue,
  queues,
  consequences,
  clock,
  onSettled = () => {},
}: OutcomesDeps): Outcomes {
  const unwritten = new Set<Unwritten>();
  return {
    size: () => unwritten.size,
    add: (ended) => void unwritten.add(ended),
    drop(webhooks) {
      for (const ended of unwritten) {
        if (!webhooks.has(ended.webhook)) continue;
        unwritten.delete(ended);
        onSettled(ended);
      }
    },
    async write() {
      if (unwritten.size === 0) return;
      const some = [...unwritten.values().take(OUTCOMES_AT_ONCE)];
      const decisions = some.map(consequences.decide);
      const records = await deliveryQueue.record(decisions);
      for (const [index, ended] of some.entries()) {
        // Dropped meanwhile.
        if (!unwritten.delete(ended)) continue;
        const { queue, lane, attempted } = ended;
        onSettled(ended);
        const decision = present(decisions[index], "a decision");
        const pauseMs = consequences.conclude(ended, decision, present(records[index], "a record"));
        queues.end(queue, lane, {
          pausedUntilMs: pauseMs > 0 ? clock.nowMs() + pauseMs : 0,
          concernsRetries: lane !== "first" || attempted.reason !== undefined,
        });
      }
    },
  };
}
