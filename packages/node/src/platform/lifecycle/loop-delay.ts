/** How long a thread keeps its timers waiting: the measure of how busy it is. */
import { monitorEventLoopDelay } from "node:perf_hooks";

/** Seconds, since the figures were read last. */
export type LoopDelay = { readonly p50: number; readonly p99: number; readonly max: number };

const RESOLUTION_MS = 10;

/** Measures the thread that calls it. */
export function measureLoopDelay(): { read(): LoopDelay; close(): void } {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  // The time between two looks is part of what is measured.
  const secondsOf = (nanoseconds: number) =>
    Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1e3) : 0;
  return {
    read() {
      const delay = {
        p50: secondsOf(histogram.percentile(50)),
        p99: secondsOf(histogram.percentile(99)),
        max: secondsOf(histogram.max),
      };
      histogram.reset();
      return delay;
    },
    close: () => void histogram.disable(),
  };
}
