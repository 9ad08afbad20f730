/** A moment that several parts share: each of them may use the time that the earlier ones left. */

export type Deadline = {
  /** Milliseconds until the deadline; 0 after it. */
  leftMs(): number;
};

/** Starts a deadline now, on the monotonic clock. */
export function createDeadline(withinMs: number): Deadline {
  const endsAt = performance.now() + withinMs;
  return { leftMs: () => Math.max(0, endsAt - performance.now()) };
}
