/**
 * Shares a result among concurrent callers: calls that arrive while it is computed wait for it, and calls
 * shortly afterwards reuse it. The work does not depend on the number of callers, and continues
 * if one of them disconnects.
 */

/** Time for which `shared` reuses a result: less than the interval of any monitoring. */
const REUSE_MS = 1_000;

/** Shares a result among all callers within a second. */
export const shared = <T>(make: () => Promise<T>): (() => Promise<T>) =>
  createSharedResult(make, REUSE_MS, () => performance.now());

/**
 * A failure is not reused: the next caller tries again.
 *
 * @param reuseMs time for which a result is reused
 */
export function createSharedResult<T>(
  make: () => Promise<T>,
  reuseMs: number,
  nowMs: () => number,
): () => Promise<T> {
  let result: Promise<T> | undefined;
  let validUntilMs = Number.POSITIVE_INFINITY;

  return () => {
    if (result && nowMs() < validUntilMs) return result;
    const made = make();
    result = made;
    validUntilMs = Number.POSITIVE_INFINITY;
    made.then(
      () => {
        if (result === made) validUntilMs = nowMs() + reuseMs;
      },
      () => {
        if (result === made) result = undefined;
      },
    );
    return made;
  };
}
