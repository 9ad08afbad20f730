/** The time and timers of the webhook service. */
export type Clock = {
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Calls `work` after a delay, unless the returned function is called before. */
  after(delayMs: number, work: () => void): () => void;
};

export const systemClock: Clock = {
  nowMs: Date.now,
  after(delayMs, work) {
    const timer = setTimeout(work, delayMs);
    return () => clearTimeout(timer);
  },
};

/**
 * Creates a monotonic clock from the wall time, in milliseconds since an arbitrary time. It pauses when the wall time is set
 * back, and never decreases.
 */
export function createElapsed(nowMs: () => number): () => number {
  let lastMs = nowMs();
  let elapsedMs = 0;
  return () => {
    const currentMs = nowMs();
    elapsedMs += Math.max(0, currentMs - lastMs);
    lastMs = currentMs;
    return elapsedMs;
  };
}
