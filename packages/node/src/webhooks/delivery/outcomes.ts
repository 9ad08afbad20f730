/** Outcomes of calls on their way to the disk: many share one write. */
import type { Database } from "../../store/engine/database.ts";
import type { Clock } from "../clock.ts";
import type { Ended } from "./outcome.ts";
import type { Lane, Queue } from "./queue.ts";
import type { Queues } from "./queues.ts";

/** An attempt whose outcome is not written yet, with its place in the queue. */
export type Unwritten = Ended & { readonly queue: Queue; readonly lane: Lane };

export type OutcomesDeps = {
  readonly database: Pick<Database, "transaction">;
  readonly queues: Pick<Queues, "end">;
  /** Writes what an attempt brought; answers for how long the target is left alone. */
  readonly writeOutcome: (ended: Ended) => number;
  readonly clock: Pick<Clock, "nowMs">;
};

export type Outcomes = {
  /** Number that is not written yet. */
  size(): number;
  add(outcome: Unwritten): void;
  /**
   * Writes some of them in one transaction. Nothing in memory changes before it is on the disk: what cannot be written
   * stays.
   */
  write(): void;
};

/** Outcomes that are written in one turn: where a thousand targets hang, their time is up in the same moment. */
const OUTCOMES_AT_ONCE = 250;

export function createOutcomes({ database, queues, writeOutcome, clock }: OutcomesDeps): Outcomes {
  const unwritten: Unwritten[] = [];

  function settle({ queue, lane, ...ended }: Unwritten) {
    const pauseMs = writeOutcome(ended);
    const heldUntilMs = pauseMs > 0 ? clock.nowMs() + pauseMs : 0;
    const concernsRetries = lane !== "first" || ended.attempted.reason !== undefined;
    return { queue, lane, heldUntilMs, concernsRetries };
  }

  return {
    size: () => unwritten.length,
    add: (outcome) => void unwritten.push(outcome),
    write() {
      if (unwritten.length === 0) return;
      const some = unwritten.slice(0, OUTCOMES_AT_ONCE);
      const settled = database.transaction(() => some.map(settle));
      unwritten.splice(0, some.length);
      for (const { queue, lane, ...ended } of settled) queues.end(queue, lane, ended);
    },
  };
}
