/**
 * Makes a function that returns milliseconds since an unknown time, from the wall time: they stand still when that is set back,
 * and never decrease.
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
