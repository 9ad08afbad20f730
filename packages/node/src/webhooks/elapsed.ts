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
