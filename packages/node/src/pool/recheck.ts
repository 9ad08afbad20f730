/**
 * Checks pending transactions again after a change of the chain (pool.md 10): sender by sender, in steps of one
 * transaction. The first steps run at once and the rest in time slices, so that the work does not depend on the number of
 * pending transactions. Transactions of a sender that waits stay pending, but are not selected for a block.
 */
import { type Steps, TimeSlices } from "../platform/threads/time-slices.ts";
import type { Journal } from "./contents/journal.ts";
import { checkDependents, checkSender, type SenderCheckDeps } from "./selection.ts";

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

/** Maximum of removals in a tick, apart from `minSteps`: the journal writes them and their events in the next tick, at once. */
const MAX_REMOVALS = 50;

export class Recheck {
  readonly #pace: RecheckPace;
  readonly #deps: RecheckDeps;
  readonly #slices: TimeSlices;
  /** Senders whose transactions wait; true if they must be read again. */
  readonly #waiting = new Map<string, boolean>();
  /** Iterates over `#waiting`, from which each sender is deleted after its check. */
  #order: Iterator<string> = this.#waiting.keys();
  /** The check in progress, of a sender or, without one, of the bounds of the pool or of dependents. */
  #current: { readonly sender?: string; readonly steps: Steps<void> } | undefined;
  /** True if dependents must be checked after the senders. */
  #areDependentsWaiting = false;
  #isRunning = false;
  #isClosed = false;
  #usedMs = 0;
  /** Usage of this tick of the event loop, in which a commit can begin many rechecks. */
  #tick: { usedMs: number; removals: number } | undefined;

  constructor(pace: RecheckPace, deps: RecheckDeps) {
    this.#pace = pace;
    this.#deps = deps;
    this.#slices = new TimeSlices({
      sliceMs: pace.sliceMs,
      isHeld: () => this.#hasRemovedEnough(),
      pace: {
        pauseMs: () => 0,
        spend: (durationMs) => {
          this.#usedMs += durationMs;
        },
      },
    });
  }

  /**
   * Marks senders whose transactions must be checked; `run` begins it.
   *
   * @param isOutdated true if the transactions were read under another milestone
   */
  mark(senderPublicKeys: Iterable<string>, isOutdated = false): void {
    this.#areDependentsWaiting = true;
    // The bounds and the dependents are checked after all senders.
    if (!this.#current?.sender) this.#current = undefined;
    for (const sender of senderPublicKeys) {
      this.#waiting.set(sender, isOutdated || this.#waiting.get(sender) === true);
      // The check in progress begins again.
      if (this.#current?.sender === sender) this.#current = undefined;
    }
  }

  /** Runs the first steps. If they do not suffice, the others follow in later ticks of the event loop. */
  run(): void {
    if (this.#isRunning || this.#isClosed || this.#isDoneAtOnce()) return;
    this.#isRunning = true;
    // An admission in progress waits from now on: what it holds is written before the removals.
    this.#deps.journal.release();
    this.#slices.run(this.#remaining()).catch(this.#deps.onFailed);
  }

  /** Runs all steps. */
  finish(): void {
    while (!this.#advance());
  }

  /** Returns true while steps are left for later ticks. */
  isRunning(): boolean {
    return this.#isRunning;
  }

  /** Returns true if the transactions of a sender wait for their check. */
  isWaiting(senderPublicKey: string): boolean {
    return this.#waiting.has(senderPublicKey);
  }

  figures(): RecheckFigures {
    return { poolUnchecked: this.#countUnchecked(), poolRecheckMs: this.#usedMs };
  }

  /** Discards all marks. */
  clear(): void {
    this.#waiting.clear();
    this.#current = undefined;
  }

  /** Ends the checks. What waits is checked at the next start of the node. */
  close(): void {
    this.#isClosed = true;
  }

  /** Dependents are checked last. */
  #countUnchecked(): number {
    const { pending, contents } = this.#deps;
    if (this.#waiting.size > 0) {
      return this.#waiting.keys().reduce((sum, sender) => sum + pending.ofSender(sender).length, 0);
    }
    return this.#areDependentsWaiting ? [...contents.dependentSenders()].length : 0;
  }

  #isDoneAtOnce(): boolean {
    const { minSteps, sliceMs } = this.#pace;
    const startMs = performance.now();
    const tick = this.#currentTick();
    const endMs = startMs + sliceMs - tick.usedMs;
    const hasTime = () => performance.now() < endMs && !this.#hasRemovedEnough();
    try {
      for (let steps = 0; steps < minSteps || hasTime(); steps++) {
        if (this.#advance()) return true;
      }
      return false;
    } finally {
      const durationMs = performance.now() - startMs;
      tick.usedMs += durationMs;
      this.#usedMs += durationMs;
    }
  }

  #hasRemovedEnough(): boolean {
    return (this.#tick?.removals ?? 0) >= MAX_REMOVALS;
  }

  #currentTick() {
    if (this.#tick) return this.#tick;
    setImmediate(() => {
      this.#tick = undefined;
    });
    this.#tick = { usedMs: 0, removals: 0 };
    return this.#tick;
  }

  *#remaining(): Steps<void> {
    try {
      while (!this.#isClosed && !this.#advance()) yield;
    } finally {
      this.#isRunning = false;
    }
  }

  /** Runs one step. Returns true if there was none. */
  #advance(): boolean {
    const { contents, pending } = this.#deps;
    this.#current ??= this.#next();
    if (!this.#current) {
      contents.settleReturned();
      return true;
    }
    const { sender, steps } = this.#current;
    const size = pending.size();
    try {
      if (!steps.next().done) return false;
    } catch (error) {
      // The sender waits until the check is repeated.
      this.#current = undefined;
      throw error;
    } finally {
      if (pending.size() < size) this.#currentTick().removals++;
    }
    if (sender !== undefined) this.#waiting.delete(sender);
    this.#current = undefined;
    return false;
  }

  #next() {
    const sender = this.#nextSender();
    if (sender !== undefined) {
      return { sender, steps: checkSender(sender, this.#waiting.get(sender) === true, this.#deps) };
    }
    if (this.#deps.contents.isOverfull()) return { steps: this.#evictExcess() };
    return this.#areDependentsWaiting ? { steps: this.#finishSenders() } : undefined;
  }

  /** After the last sender, the first one that was marked again during its check. */
  #nextSender(): string | undefined {
    const { value, done } = this.#order.next();
    if (!done) return value;
    this.#order = this.#waiting.keys();
    return this.#order.next().value;
  }

  *#finishSenders(): Steps<void> {
    const { contents } = this.#deps;
    for (let next = contents.takeDropped(); next; next = contents.takeDropped()) {
      contents.reportRemoval(next, "transaction.pool.removed");
      this.#currentTick().removals++;
      yield;
    }
    yield* checkDependents(this.#deps);
    this.#areDependentsWaiting = false;
  }

  /** Returned transactions can exceed the bounds of the pool until all were checked. */
  *#evictExcess(): Steps<void> {
    const { contents } = this.#deps;
    while (contents.isOverfull()) {
      const evicted = contents.evict();
      if (!evicted) return;
      this.#waiting.set(evicted.data.senderPublicKey, false);
      this.#areDependentsWaiting = true;
      yield;
    }
  }
}
