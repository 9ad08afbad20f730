/** Runs work in slices: between two of them the thread returns to its event loop, so that sockets, timers and messages proceed. */

/** Work in steps: each call of `next` is a part that takes a few milliseconds at most. */
export type Steps<T> = Generator<undefined, T>;

export type TimeSlices = {
  /** Runs the steps after those of all earlier calls. Rejects with what a step throws. */
  run<T>(steps: Steps<T>): Promise<T>;
};

export type TimeSliceOptions = {
  /** A slice ends with the first step that exceeds this time; a single step is never interrupted. */
  readonly sliceMs: number;
  /** Called before each slice: milliseconds until it may begin, 0 for the next event-loop tick. */
  readonly pauseMs?: () => number;
  /** Called after each slice. */
  readonly onSlice?: (durationMs: number) => void;
};

type Job = { advance(): boolean };

export function createTimeSlices({
  sliceMs,
  pauseMs = () => 0,
  onSlice = () => {},
}: TimeSliceOptions): TimeSlices {
  const jobs: Job[] = [];
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled || jobs.length === 0) return;
    isScheduled = true;
    const pause = pauseMs();
    if (pause > 0) setTimeout(runSlice, pause);
    else setImmediate(runSlice);
  }

  function runSlice(): void {
    isScheduled = false;
    const startMs = performance.now();
    do {
      if (jobs[0]!.advance()) jobs.shift();
    } while (jobs.length > 0 && performance.now() - startMs < sliceMs);
    onSlice(performance.now() - startMs);
    schedule();
  }

  return {
    run<T>(steps: Steps<T>): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      jobs.push({ advance: () => advance(steps, resolve, reject) });
      schedule();
      return promise;
    },
  };
}

/** Work that cannot be divided. */
// biome-ignore lint/correctness/useYield: a single step
export function* inOneStep<T>(work: () => T): Steps<T> {
  return work();
}

/** Runs one step. Returns true after the last one. */
function advance<T>(steps: Steps<T>, resolve: (value: T) => void, reject: (error: unknown) => void): boolean {
  try {
    const { done, value } = steps.next();
    if (done) resolve(value);
    return done === true;
  } catch (error) {
    reject(error);
    return true;
  }
}
