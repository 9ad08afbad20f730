/** Height of a mirror, for a part that waits for it. */
import { createNotifier } from "../../platform/notifier.ts";
import { isWithin } from "../../platform/within.ts";

export type HeightWatch = {
  /** Must be called with each new height. */
  reach(height: number): void;
  /** Waits until the mirror has this height, for at most this time, or until the signal is aborted. */
  waitFor(height: number, maxMs: number): Promise<void>;
};

export function createHeightWatch(start: number, signal: AbortSignal): HeightWatch {
  const changed = createNotifier();
  let reached = start;
  signal.addEventListener("abort", changed.notify, { once: true });
  return {
    reach(height) {
      reached = height;
      changed.notify();
    },
    async waitFor(height, maxMs) {
      const endMs = performance.now() + maxMs;
      while (reached < height && !signal.aborted) {
        const isInTime = await isWithin(changed.next(), endMs - performance.now());
        if (!isInTime) return;
      }
    },
  };
}
