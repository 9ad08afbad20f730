/** Progress of a synchronisation. */
import type { SyncProgress } from "../../gateway/figures.ts";

export type ProgressMeter = {
  /** @param at milliseconds of a monotonic clock */
  measure(height: number, target: number, at: number): SyncProgress;
};

/** Window of the average speed. */
const WINDOW_MS = 30_000;

export function createProgressMeter(): ProgressMeter {
  const samples: { readonly height: number; readonly at: number }[] = [];
  return {
    measure(height, target, at) {
      samples.push({ height, at });
      while (samples.length > 2 && at - samples[1]!.at >= WINDOW_MS) samples.shift();
      const [first] = samples;
      const seconds = (at - first!.at) / 1000;
      const blocksPerSecond = seconds > 0 ? Math.max(0, height - first!.height) / seconds : 0;
      return {
        target,
        percent: target === 0 ? 100 : Math.floor((100 * Math.min(height, target)) / target),
        blocksPerSecond: Math.round(blocksPerSecond),
        ...(blocksPerSecond > 0 && { secondsLeft: Math.ceil((target - height) / blocksPerSecond) }),
      };
    },
  };
}
