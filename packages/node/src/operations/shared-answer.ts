/**
 * An answer for many callers: those who come while it is made wait for the same one, and those who come soon after get it
 * again. However many ask, it is made once in a while, and a caller who hangs up leaves no work behind.
 */

/** What fails is not kept: the next caller tries anew. */
export function createSharedAnswer<T>(
  make: () => Promise<T>,
  reuseMs: number,
  nowMs: () => number,
): () => Promise<T> {
  let answer: Promise<T> | undefined;
  let goodUntilMs = Number.POSITIVE_INFINITY;

  return () => {
    if (answer && nowMs() < goodUntilMs) return answer;
    const made = make();
    answer = made;
    goodUntilMs = Number.POSITIVE_INFINITY;
    made.then(
      () => {
        if (answer === made) goodUntilMs = nowMs() + reuseMs;
      },
      () => {
        if (answer === made) answer = undefined;
      },
    );
    return made;
  };
}
