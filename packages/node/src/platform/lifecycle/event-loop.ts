/**
 * Event loops of the threads: detects blocked ones, and measures how late the timers of a thread run. Each thread increments a
 * counter in shared memory; another one notices when the counter does not change. Time is measured by the watcher's own timer, so a
 * suspended process or machine does not count as a blocked thread.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Logger } from "pino";

type Thread = "consensus" | "serving";

/** Seconds without a heartbeat after which a thread counts as blocked. */
export const MAX_SILENT_SECONDS = 10;

const INDEXES: Readonly<Record<Thread, number>> = { consensus: 0, serving: 1 };
const BEAT_MS = 1_000;

/** Creates the counters that the threads share. */
export const createHeartbeats = (): SharedArrayBuffer =>
  new SharedArrayBuffer(Object.keys(INDEXES).length * Int32Array.BYTES_PER_ELEMENT);

/** Increments the counter of the calling thread until closed. */
export function beat(heartbeats: SharedArrayBuffer, thread: Thread): { close(): void } {
  const counts = new Int32Array(heartbeats);
  const timer = setInterval(() => Atomics.add(counts, INDEXES[thread], 1), BEAT_MS).unref();
  return { close: () => clearInterval(timer) };
}

/** Watches another thread, and logs when it is blocked and when it runs again. */
export class ThreadWatch {
  readonly #thread: Thread;
  readonly #counts: Int32Array;
  readonly #logger: Pick<Logger, "error" | "warn">;
  readonly #timer: NodeJS.Timeout;
  #seen: number;
  #silentSeconds = 0;

  constructor(heartbeats: SharedArrayBuffer, thread: Thread, logger: Pick<Logger, "error" | "warn">) {
    this.#thread = thread;
    this.#counts = new Int32Array(heartbeats);
    this.#logger = logger;
    this.#seen = this.#count();
    this.#timer = setInterval(() => this.#check(), BEAT_MS).unref();
  }

  /** Returns the seconds since the counter of the thread changed. */
  silentSeconds(): number {
    return this.#silentSeconds;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #count(): number {
    return Atomics.load(this.#counts, INDEXES[this.#thread]);
  }

  #check(): void {
    const thread = this.#thread;
    const count = this.#count();
    const seconds = this.#silentSeconds;
    if (count === this.#seen) {
      this.#silentSeconds = seconds + 1;
      if (this.#silentSeconds === MAX_SILENT_SECONDS)
        this.#logger.error(
          { thread, seconds: MAX_SILENT_SECONDS },
          `the ${thread} thread has not responded for ${MAX_SILENT_SECONDS} s`,
        );
      return;
    }
    if (seconds >= MAX_SILENT_SECONDS)
      this.#logger.warn({ thread, seconds }, `the ${thread} thread responds again after ${seconds} s`);
    this.#silentSeconds = 0;
    this.#seen = count;
  }
}

/** Percentiles and maximum of the delay in seconds, since the last reading. */
export type LoopDelay = { readonly p50: number; readonly p99: number; readonly max: number };

/**
 * Interval of samples. Each sample wakes the thread: a hundred per second would cost more than all other work of an idle node.
 */
const RESOLUTION_MS = 100;

/** Measures the calling thread until closed. */
export class LoopDelayMonitor {
  readonly #histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.#histogram.enable();
  }

  /** Returns the delay since the last reading. */
  read(): LoopDelay {
    const histogram = this.#histogram;
    const delay = {
      p50: toSeconds(histogram.percentile(50)),
      p99: toSeconds(histogram.percentile(99)),
      max: toSeconds(histogram.max),
    };
    histogram.reset();
    return delay;
  }

  close(): void {
    this.#histogram.disable();
  }
}

/** The measured values include the sampling interval. */
const toSeconds = (nanoseconds: number): number =>
  Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1e3) : 0;
