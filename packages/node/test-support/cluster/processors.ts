/** Free processors of the machine: a cluster without them is slow, but not wrong. */
import { cpus } from "node:os";

/** Returns the time for which processors were free since the machine started, in milliseconds. */
const readIdleMs = (): number => cpus().reduce((sum, { times }) => sum + times.idle, 0);

/** Returns a function that returns the share of time since this call in which processors were free: 0 to 1. */
export function watchFree(): () => number {
  const [startMs, startIdleMs, count] = [performance.now(), readIdleMs(), cpus().length];
  return () => {
    const elapsedMs = Math.max(1, performance.now() - startMs);
    return Math.min(1, (readIdleMs() - startIdleMs) / (elapsedMs * count));
  };
}
