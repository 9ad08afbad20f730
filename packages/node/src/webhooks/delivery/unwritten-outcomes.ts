/** Outcomes of calls that are not on disk yet: many share one write. */

import { setImmediate } from "node:timers/promises";
import { present } from "../../platform/present.ts";
import type { Clock } from "../collaborators.ts";
import type { AttemptOutcome, DeliveryQueue, RecordedOutcome } from "../delivery-queue.ts";
import type { Queues } from "./active-queues.ts";
import type { Consequences, EndedAttempt } from "./consequences.ts";
import type { Lane, Queue } from "./lanes.ts";

/** An attempt whose outcome is not written yet, with its position in the queue. */
export type Unwritten = EndedAttempt & { readonly queue: Queue; readonly lane: Lane };

export type OutcomesDeps = {
  readonly deliveryQueue: Pick<DeliveryQueue, "record">;
  readonly queues: Pick<Queues, "end">;
  readonly consequences: Consequences;
  readonly clock: Pick<Clock, "steadyMs">;
  /** Called after each outcome is on disk, or was dropped. */
  readonly onSettled?: (ended: Unwritten) => void;
  /** Called when a write has ended that `write` did not wait for: `write` must be called again. */
  readonly onWriteEnded?: () => void;
};

export type Outcomes = {
  /** Returns the number of outcomes that wait for a write. */
  waiting(): number;
  /** Returns whether a write is running. */
  isWriting(): boolean;
  add(outcome: Unwritten): void;
  /** Drops the outcomes of webhooks that another process owns, which repeats the calls. */
  drop(webhooks: ReadonlySet<number>): void;
  /**
   * Applies the consequences of a write that has ended, and begins another one: some outcomes in one transaction. Waits for it
   * until the next tick of the event loop: a database in this process has written them by then, and calls of other webhooks need not
   * wait for another database. Outcomes leave the memory only after the write: a failed write loses none.
   *
   * Nothing else applies consequences: what a caller reads between two calls has deliveries whose outcomes are not settled.
   *
   * @throws the error of a failed write
   */
  write(): Promise<void>;
  /** Writes all outcomes. */
  writeAll(): Promise<void>;
};

/** Maximum outcomes per write: if a thousand targets do not respond, all calls time out at the same moment. */
const OUTCOMES_AT_ONCE = 100;

/** Outcomes that are being written; `result` is present once the write has ended. */
type Write = {
  readonly some: readonly Unwritten[];
  readonly decisions: readonly AttemptOutcome[];
  ended: Promise<void>;
  result?: { readonly records: readonly RecordedOutcome[] } | { readonly error: unknown };
};

type State = Required<OutcomesDeps> & {
  readonly unwritten: Set<Unwritten>;
  current: Write | undefined;
};

export function createOutcomes(deps: OutcomesDeps): Outcomes {
  const state: State = {
    onSettled() {},
    onWriteEnded() {},
    ...deps,
    unwritten: new Set(),
    current: undefined,
  };
  const { unwritten, onSettled } = state;
  return {
    waiting: () => unwritten.size - (state.current?.some.length ?? 0),
    isWriting: () => isWriting(state),
    add: (ended) => void unwritten.add(ended),
    drop(webhooks) {
      for (const ended of unwritten) {
        if (!webhooks.has(ended.webhook)) continue;
        unwritten.delete(ended);
        onSettled(ended);
      }
    },
    write: () => write(state),
    async writeAll() {
      await state.current?.ended;
      // A failed write is repeated.
      if (state.current?.result && "error" in state.current.result) state.current = undefined;
      for (conclude(state); unwritten.size > 0; conclude(state)) await begin(state).ended;
    },
  };
}

async function write(state: State): Promise<void> {
  conclude(state);
  if (isWriting(state) || state.unwritten.size === 0) return;
  const { ended } = begin(state);
  await Promise.race([ended, setImmediate()]);
  if (isWriting(state)) void ended.then(state.onWriteEnded);
  else conclude(state);
}

const isWriting = ({ current }: State): boolean => current !== undefined && current.result === undefined;

function begin(state: State): Write {
  const { unwritten, consequences, deliveryQueue } = state;
  const some = [...unwritten.values().take(OUTCOMES_AT_ONCE)];
  const decisions = some.map(consequences.decide);
  const record = async () => {
    try {
      current.result = { records: await deliveryQueue.record(decisions) };
    } catch (error) {
      current.result = { error };
    }
  };
  const current: Write = { some, decisions, ended: Promise.resolve() };
  current.ended = record();
  state.current = current;
  return current;
}

/** Applies the consequences of the current write, if it has ended. */
function conclude(state: State): void {
  const { current, unwritten, queues, consequences, clock, onSettled } = state;
  if (!current?.result) return;
  state.current = undefined;
  const { some, decisions, result } = current;
  if ("error" in result) throw result.error;
  for (const [index, ended] of some.entries()) {
    // Dropped meanwhile.
    if (!unwritten.delete(ended)) continue;
    const { queue, lane, attempted } = ended;
    onSettled(ended);
    const decision = present(decisions[index], "a decision");
    const pauseMs = consequences.conclude(ended, decision, present(result.records[index], "a record"));
    queues.end(queue, lane, {
      pausedUntilMs: pauseMs > 0 ? clock.steadyMs() + pauseMs : 0,
      concernsRetries: lane !== "first" || attempted.reason !== undefined,
    });
  }
}
