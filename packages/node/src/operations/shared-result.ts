/** Time for which a result is reused: less than the interval of any monitoring. */
const REUSE_MS = 1_000;

/**
 * Shares a result among concurrent callers: calls that arrive while it is computed wait for it, and calls
 * shortly afterwards reuse it. The work does not depend on the number of callers, and continues
 * if one of them disconnects. A failure is not reused: the next caller tries again.
 */
export function shared<T>(make: () => Promise<T>, nowMs = () => performance.now()): () => Promise<T> {
  let result: Promise<T> | undefined;
  let validUntilMs = Number.POSITIVE_INFINITY;

  return () => {
    if (result && nowMs() < validUntilMs) return result;
    const made = make();
    result = made;
    validUntilMs = Number.POSITIVE_INFINITY;
    made.then(
      () => {
        if (result === made) validUntilMs = nowMs() + REUSE_MS;
      },
      () => {
        if (result === made) result = undefined;
      },
    );
    return made;
  };
}
