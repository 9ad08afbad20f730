/** The event loop delay of a thread: how late its timers run. */
import { monitorEventLoopDelay } from "node:perf_hooks";

/** Seconds, since the last reading. */
export type LoopDelay = { readonly p50: number; readonly p99: number; readonly max: number };

/**
 * Interval of samples. Each wakes the thread: a hundred per second would cost more than all other work of an
 * idle node.
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
