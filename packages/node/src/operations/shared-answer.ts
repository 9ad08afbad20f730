/**
 * An answer that concurrent callers share: calls that arrive while it is made wait for it, and calls shortly afterwards
 * get it again. The number of callers does not increase the work, and a client that disconnects leaves none behind.
 */

/**
 * A failure is not reused: the next caller tries again.
 *
 * @param reuseMs time for which an answer is reused
 */
export function createSharedAnswer<T>(
  make: () => Promise<T>,
  reuseMs: number,
  nowMs: () => number,
): () => Promise<T> {
  let answer: Promise<T> | undefined;
  let validUntilMs = Number.POSITIVE_INFINITY;

  return () => {
    if (answer && nowMs() < validUntilMs) return answer;
    const made = make();
    answer = made;
    validUntilMs = Number.POSITIVE_INFINITY;
    made.then(
      () => {
        if (answer === made) validUntilMs = nowMs() + reuseMs;
      },
      () => {
        if (answer === made) answer = undefined;
      },
    );
    return made;
  };
}
