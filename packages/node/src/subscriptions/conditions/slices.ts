/**
 * Shares the time of the thread between the evaluations of conditions: a slice in each tick of the event loop, round-robin,
 * so that requests run in between and no subscriber waits for the conditions of another.
 */

/** Component that evaluates the conditions. */
type MatchingKind = "stream" | "webhook" | "replay" | "dry-run";

/** Called by all components that evaluate conditions; feeds the metrics. */
export type MatchingObserver = {
  /** Called with the time of an evaluation. */
  spent(kind: MatchingKind, ms: number): void;
  /** Called when a subscriber is deprioritised for the cost of its conditions. */
  slowed(kind: MatchingKind): void;
  /** Called when a subscriber was suspended, or its stream closed, for the cost of its conditions. */
  suspended(kind: MatchingKind): void;
};

export const NO_MATCHING_OBSERVER: MatchingObserver = { spent() {}, slowed() {}, suspended() {} };

/** Time for all work in one tick. One more evaluation may exceed it, by at most 13 ms (`MAX_EVENT_STEPS`). */
const SLICE_MS = 10;
/** Time for one piece of work in one tick. */
const JOB_MS = 2;
/** Pause after a tick that used up its slice: the other half of the time belongs to requests. */
const REST_MS = 10;

type Job = (sliceEndMs: number) => void;

export class Slices {
  readonly #observer: Pick<MatchingObserver, "spent">;
  readonly #queues: { readonly quick: Job[]; readonly slow: Job[] } = { quick: [], slow: [] };
  #isScheduled = false;

  constructor(observer: Pick<MatchingObserver, "spent">) {
    this.#observer = observer;
  }

  /**
   * Queues the work; slow subscribers run after all others. `isTimeUp` returns whether the work must stop and queue its
   * rest. Rejects with the error of the work.
   */
  run<T>(kind: MatchingKind, isSlow: boolean, work: (isTimeUp: () => boolean) => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    (isSlow ? this.#queues.slow : this.#queues.quick).push((sliceEndMs) => {
      const startMs = performance.now();
      const endMs = Math.min(sliceEndMs, startMs + JOB_MS);
      try {
        resolve(work(() => performance.now() >= endMs));
      } catch (error) {
        reject(error);
      }
      this.#observer.spent(kind, performance.now() - startMs);
    });
    this.#schedule(false);
    return promise;
  }

  #schedule(isUsedUp: boolean): void {
    if (this.#isScheduled || this.#queues.quick.length + this.#queues.slow.length === 0) return;
    this.#isScheduled = true;
    const serve = () => this.#serve();
    if (isUsedUp) setTimeout(serve, REST_MS);
    else setImmediate(serve);
  }

  #serve(): void {
    const { quick, slow } = this.#queues;
    const endMs = performance.now() + SLICE_MS;
    // One slow job runs even if there are many quick ones.
    serveOne(slow, endMs);
    while (performance.now() < endMs && (serveOne(quick, endMs) || serveOne(slow, endMs)));
    this.#isScheduled = false;
    this.#schedule(performance.now() >= endMs);
  }
}

/** Runs one job; returns `false` if the queue is empty. */
function serveOne(queue: Job[], sliceEndMs: number): boolean {
  const job = queue.shift();
  job?.(sliceEndMs);
  return job !== undefined;
}
