/** Long work in steps, between which the caller may do other work. */
export type Steps<T> = Generator<void, T>;

/** Runs all steps without a pause. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
