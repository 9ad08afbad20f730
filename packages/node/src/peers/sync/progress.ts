/** Progress of a synchronisation. */
import type { SyncProgress } from "../../gateway/figures.ts";

export type ProgressMeter = {
  /** @param at milliseconds of a monotonic clock */
  measure(height: number, target: number, at: number): SyncProgress;
};

/** Window of the average speed. */
const WINDOW_MS = 30_000;

type Sample = { readonly height: number; readonly at: number };

export function createProgressMeter(): ProgressMeter {
  let samples: readonly Sample[] = [];
  return {
    measure(height, target, at) {
      const sample = { height, at };
      // The last sample before the window is the first one of the average.
      const begin = samples.findLastIndex((earlier) => at - earlier.at >= WINDOW_MS);
      samples = [...samples.slice(Math.max(0, begin)), sample];
      const [first = sample] = samples;
      const seconds = (at - first.at) / 1000;
      const blocksPerSecond = seconds > 0 ? Math.max(0, height - first.height) / seconds : 0;
      return {
        target,
        percent: target === 0 ? 100 : Math.floor((100 * Math.min(height, target)) / target),
        blocksPerSecond: Math.round(blocksPerSecond),
        ...(blocksPerSecond > 0 && { secondsLeft: Math.ceil((target - height) / blocksPerSecond) }),
      };
    },
  };
}
