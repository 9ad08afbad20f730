/**
 * Event loops of the threads: detects blocked ones, and measures how late the timers of a thread run. Each thread increments a
 * counter in shared memory; another one notices when the counter does not change. Time is measured by the watcher's own timer, so a
 * suspended process or machine does not count as a blocked thread.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Logger } from "pino";

type Thread = "consensus" | "serving";

type Watch = {
  /** Returns the seconds since the counter of the thread changed. */
  silentSeconds(): number;
  close(): void;
};

type WatchDeps = {
  /** Called when the thread has been blocked for `MAX_SILENT_SECONDS`. */
  readonly onSilent?: (silentSeconds: number) => void;
  /** Called when the thread runs again. */
  readonly onBack?: (silentSeconds: number) => void;
};

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
export const watchAndLog = (
  heartbeats: SharedArrayBuffer,
  thread: Thread,
  logger: Pick<Logger, "error" | "warn">,
): Watch =>
  watch(heartbeats, thread, {
    onSilent: (seconds) =>
      logger.error({ thread, seconds }, `the ${thread} thread has not responded for ${seconds} s`),
    onBack: (seconds) =>
      logger.warn({ thread, seconds }, `the ${thread} thread responds again after ${seconds} s`),
  });

function watch(
  heartbeats: SharedArrayBuffer,
  thread: Thread,
  { onSilent = () => {}, onBack = () => {} }: WatchDeps = {},
): Watch {
  const counts = new Int32Array(heartbeats);
  let seen = Atomics.load(counts, INDEXES[thread]);
  let silentSeconds = 0;
  const timer = setInterval(() => {
    const count = Atomics.load(counts, INDEXES[thread]);
    if (count === seen) {
      silentSeconds++;
      if (silentSeconds === MAX_SILENT_SECONDS) onSilent(silentSeconds);
      return;
    }
    if (silentSeconds >= MAX_SILENT_SECONDS) onBack(silentSeconds);
    silentSeconds = 0;
    seen = count;
  }, BEAT_MS).unref();
  return { silentSeconds: () => silentSeconds, close: () => clearInterval(timer) };
}

/** Percentiles and maximum of the delay in seconds, since the last reading. */
export type LoopDelay = { readonly p50: number; readonly p99: number; readonly max: number };

/**
 * Interval of samples. Each sample wakes the thread: a hundred per second would cost more than all other work of an idle node.
 */
const RESOLUTION_MS = 100;

/** Measures the calling thread. */
export function measureLoopDelay(): { read(): LoopDelay; close(): void } {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  // The measured values include the sampling interval.
  const toSeconds = (nanoseconds: number) =>
    Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1e3) : 0;
  return {
    read() {
      const delay = {
        p50: toSeconds(histogram.percentile(50)),
        p99: toSeconds(histogram.percentile(99)),
        max: toSeconds(histogram.max),
      };
      histogram.reset();
      return delay;
    },
    close: () => void histogram.disable(),
  };
}
