/**
 * Runs work in slices: between two of them the thread returns to its event loop, so that sockets, timers and
 * messages proceed. Sources of work take turns, so that none delays the others. All slices of a thread share the time of
 * an event-loop tick.
 */

/** Time for all slices in a tick of the event loop: no further slice begins after it. */
const TICK_MS = 20;

/** Pause before held work is tried again. */
const HELD_PAUSE_MS = 1;

/** The next slice of each queue of this thread, in the order in which they run. */
const ready: (() => Promise<void>)[] = [];
let isTickScheduled = false;

function addReady(runSlice: () => Promise<void>): void {
  ready.push(runSlice);
  if (!isTickScheduled) setImmediate(runTick);
  isTickScheduled = true;
}

/** Runs slices until the time is over; at most one of each queue. */
async function runTick(): Promise<void> {
  const startMs = performance.now();
  for (let left = ready.length; left > 0 && performance.now() - startMs < TICK_MS; left--) {
    await ready.shift()?.();
  }
  isTickScheduled = ready.length > 0;
  if (isTickScheduled) setImmediate(runTick);
}

/** Work in steps: each call of `next` is a part that takes a few milliseconds at most. */
export type Steps<T> = Generator<void, T>;

type TimeSliceOptions = {
  /** A slice ends with the first step that exceeds this time; a single step is never interrupted. */
  readonly sliceMs: number;
  /** Decides when slices run; absent: in each tick of the event loop. */
  readonly pace?: {
    /** Called before each slice: milliseconds until it may begin, 0 for the next event-loop tick. */
    pauseMs(): number;
    /** Called after each slice. */
    spend(durationMs: number): void;
  };
  /** Called before each step: true if none may run for now. */
  readonly isHeld?: () => boolean;
};

/** Steps that are left, and the promise of their result. */
type Job = Omit<PromiseWithResolvers<never>, "promise"> & { readonly steps: Steps<never> };

export class TimeSlices {
  readonly #options: TimeSliceOptions;
  /** Waiting work by source, in the order of their turns. */
  readonly #waiting = new Map<string, Job[]>();
  #isScheduled = false;

  constructor(options: TimeSliceOptions) {
    this.#options = options;
  }

  /**
   * Runs the steps after earlier calls with the same source; sources take turns, one step each. Rejects with
   * the error of a step.
   */
  run<T>(steps: Steps<T>, source = ""): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const jobs = this.#waiting.get(source) ?? [];
    jobs.push({ steps, resolve, reject } as Job);
    this.#waiting.set(source, jobs);
    this.#schedule();
    return promise;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    const { pace, isHeld } = this.#options;
    const pause = isHeld?.() ? HELD_PAUSE_MS : (pace?.pauseMs() ?? 0);
    const runSlice = () => this.#runSlice();
    if (pause > 0) setTimeout(addReady, pause, runSlice);
    else addReady(runSlice);
  }

  async #runSlice(): Promise<void> {
    const { sliceMs, pace, isHeld } = this.#options;
    const startMs = performance.now();
    while (this.#waiting.size > 0 && !isHeld?.()) {
      this.#takeTurn();
      // Code that waits for the result belongs to the slice.
      await undefined;
      if (performance.now() - startMs >= sliceMs) break;
    }
    pace?.spend(performance.now() - startMs);
    this.#isScheduled = false;
    this.#schedule();
  }

  #takeTurn(): void {
    const [next] = this.#waiting;
    if (!next) return;
    const [source, jobs] = next;
    const [job] = jobs;
    // The step may add work of the same source.
    if (job && advance(job)) jobs.shift();
    this.#waiting.delete(source);
    if (jobs.length > 0) this.#waiting.set(source, jobs);
  }
}

/** Runs all steps in the current event-loop tick. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Runs work that cannot be divided as a single step. */
// biome-ignore lint/correctness/useYield: a single step
export function* inOneStep<T>(work: () => T): Steps<T> {
  return work();
}

/** Runs one step. Returns true after the last one. */
function advance({ steps, resolve, reject }: Job): boolean {
  try {
    const { done, value } = steps.next();
    if (done) resolve(value);
    return done === true;
  } catch (error) {
    reject(error);
    return true;
  }
}
