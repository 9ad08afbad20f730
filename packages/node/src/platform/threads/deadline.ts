/** Deadlines that all threads of the process share. */

/** Milliseconds of the monotonic clock, which is the same in every thread. */
export type Deadline = number;

const NANOSECONDS_PER_MS = 1_000_000n;

const nowMs = (): number => Number(process.hrtime.bigint() / NANOSECONDS_PER_MS);

export const deadlineIn = (timeoutMs: number): Deadline => nowMs() + timeoutMs;
export const isOver = (deadline: Deadline): boolean => nowMs() > deadline;
export const remainingMs = (deadline: Deadline): number => deadline - nowMs();
