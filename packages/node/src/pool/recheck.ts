/**
 * Checks pending transactions again after a change of the chain (pool.md 10): sender by sender, in steps of one
 * transaction. The first steps run at once and the rest in time slices, so that the work does not depend on the number of
 * pending transactions. Transactions of a sender that waits stay pending, but are not selected for a block.
 */
import { createTimeSlices, type Steps, type TimeSlices } from "../platform/threads/time-slices.ts";
import type { Journal } from "./contents/journal.ts";
import { checkDependents, checkSender, type SenderCheckDeps } from "./sender-check.ts";

export type Recheck = {
  /**
   * Marks senders whose transactions must be checked; `run` begins it.
   *
   * @param isOutdated true if the transactions were read under another milestone
   */
  mark(senderPublicKeys: Iterable<string>, isOutdated?: boolean): void;
  /** Runs the first steps. If they do not suffice, the others follow in later ticks of the event loop. */
  run(): void;
  /** Runs all steps. */
  finish(): void;
  /** Returns true while steps are left for later ticks. */
  isRunning(): boolean;
  /** Returns true if the transactions of a sender wait for their check. */
  isWaiting(senderPublicKey: string): boolean;
  figures(): RecheckFigures;
  /** Discards all marks. */
  clear(): void;
  /** Ends the checks. What waits is checked at the next start of the node. */
  close(): void;
};

export type RecheckFigures = {
  /** Pending transactions that wait for their check. */
  readonly poolUnchecked: number;
  /** Milliseconds used since the process started. */
  readonly poolRecheckMs: number;
};

export type RecheckPace = {
  /** Number of steps that `run` makes at once in any case. */
  readonly minSteps: number;
  /** Time for further steps in a tick of the event loop; the last one can exceed it. */
  readonly sliceMs: number;
};

export type RecheckDeps = SenderCheckDeps & {
  readonly journal: Pick<Journal, "release">;
  /** Called with an error of a later step; the check is repeated after the next block. */
  readonly onFailed: (error: unknown) => void;
};

type State = RecheckDeps & {
  readonly pace: RecheckPace;
  readonly slices: TimeSlices;
  /** Senders whose transactions wait; true if they must be read again. */
  readonly waiting: Map<string, boolean>;
  /** Iterates over `waiting`, from which each sender is deleted after its check. */
  order: Iterator<string>;
  /** The check in progress, of a sender or, without one, of the bounds of the pool or of dependents. */
  current: { readonly sender?: string; readonly steps: Steps<void> } | undefined;
  /** True if dependents must be checked after the senders. */
  areDependentsWaiting: boolean;
  isRunning: boolean;
  isClosed: boolean;
  usedMs: number;
  /** Usage of this tick of the event loop, in which a commit can begin many rechecks. */
  tick: { usedMs: number; removals: number } | undefined;
};

/** Maximum of removals in a tick, apart from `minSteps`: the journal writes them and their events in the next tick, at once. */
const MAX_REMOVALS = 50;

export function createRecheck(pace: RecheckPace, deps: RecheckDeps): Recheck {
  const waiting = new Map<string, boolean>();
  const state: State = {
    ...deps,
    pace,
    slices: createTimeSlices({
      sliceMs: pace.sliceMs,
      isHeld: () => hasRemovedEnough(state),
      onSlice(durationMs) {
        state.usedMs += durationMs;
      },
    }),
    waiting,
    order: waiting.keys(),
    current: undefined,
    areDependentsWaiting: false,
    isRunning: false,
    isClosed: false,
    usedMs: 0,
    tick: undefined,
  };
  return {
    mark: (senders, isOutdated = false) => mark(state, senders, isOutdated),
    run: () => run(state),
    finish() {
      while (!advance(state));
    },
    isRunning: () => state.isRunning,
    isWaiting: (sender) => waiting.has(sender),
    figures: () => ({
      poolUnchecked: countUnchecked(state),
      poolRecheckMs: state.usedMs,
    }),
    clear() {
      waiting.clear();
      state.current = undefined;
    },
    close() {
      state.isClosed = true;
    },
  };
}

/** Dependents are checked last. */
function countUnchecked({ waiting, areDependentsWaiting, pending, contents }: State): number {
  if (waiting.size > 0) {
    return waiting.keys().reduce((sum, sender) => sum + pending.ofSender(sender).length, 0);
  }
  return areDependentsWaiting ? [...contents.dependentSenders()].length : 0;
}

function mark(state: State, senders: Iterable<string>, isOutdated: boolean): void {
  const { waiting, current } = state;
  state.areDependentsWaiting = true;
  // The bounds and the dependents are checked after all senders.
  if (!current?.sender) state.current = undefined;
  for (const sender of senders) {
    waiting.set(sender, isOutdated || waiting.get(sender) === true);
    // The check in progress begins again.
    if (current?.sender === sender) state.current = undefined;
  }
}

function run(state: State): void {
  if (state.isRunning || state.isClosed || isDoneAtOnce(state)) return;
  state.isRunning = true;
  // An admission in progress waits from now on: what it holds is written before the removals.
  state.journal.release();
  state.slices.run(remaining(state)).catch(state.onFailed);
}

function isDoneAtOnce(state: State): boolean {
  const { minSteps, sliceMs } = state.pace;
  const startMs = performance.now();
  const tick = currentTick(state);
  const endMs = startMs + sliceMs - tick.usedMs;
  const hasTime = () => performance.now() < endMs && !hasRemovedEnough(state);
  try {
    for (let steps = 0; steps < minSteps || hasTime(); steps++) {
      if (advance(state)) return true;
    }
    return false;
  } finally {
    const durationMs = performance.now() - startMs;
    tick.usedMs += durationMs;
    state.usedMs += durationMs;
  }
}

const hasRemovedEnough = ({ tick }: State): boolean => (tick?.removals ?? 0) >= MAX_REMOVALS;

function currentTick(state: State): NonNullable<State["tick"]> {
  if (state.tick) return state.tick;
  setImmediate(() => {
    state.tick = undefined;
  });
  state.tick = { usedMs: 0, removals: 0 };
  return state.tick;
}

function* remaining(state: State): Steps<void> {
  try {
    while (!state.isClosed && !advance(state)) yield;
  } finally {
    state.isRunning = false;
  }
}

/** Runs one step. Returns true if there was none. */
function advance(state: State): boolean {
  state.current ??= next(state);
  if (!state.current) {
    state.contents.settleReturned();
    return true;
  }
  const { sender, steps } = state.current;
  const size = state.pending.size();
  try {
    if (!steps.next().done) return false;
  } catch (error) {
    // The sender waits until the check is repeated.
    state.current = undefined;
    throw error;
  } finally {
    if (state.pending.size() < size) currentTick(state).removals++;
  }
  if (sender !== undefined) state.waiting.delete(sender);
  state.current = undefined;
  return false;
}

function next(state: State): State["current"] {
  const sender = nextSender(state);
  if (sender !== undefined) {
    return { sender, steps: checkSender(sender, state.waiting.get(sender) === true, state) };
  }
  if (state.contents.isOverfull()) return { steps: evictExcess(state) };
  return state.areDependentsWaiting ? { steps: finishSenders(state) } : undefined;
}

function* finishSenders(state: State): Steps<void> {
  for (let next = state.contents.takeDropped(); next; next = state.contents.takeDropped()) {
    state.contents.reportRemoval(next, "transaction.pool.removed");
    currentTick(state).removals++;
    yield;
  }
  yield* checkDependents(state);
  state.areDependentsWaiting = false;
}

/** After the last sender, the first one that was marked again during its check. */
function nextSender(state: State): string | undefined {
  const { value, done } = state.order.next();
  if (!done) return value;
  state.order = state.waiting.keys();
  return state.order.next().value;
}

/** Returned transactions can exceed the bounds of the pool until all were checked. */
function* evictExcess(state: State): Steps<void> {
  while (state.contents.isOverfull()) {
    const evicted = state.contents.evict();
    if (!evicted) return;
    state.waiting.set(evicted.data.senderPublicKey, false);
    state.areDependentsWaiting = true;
    yield;
  }
}
