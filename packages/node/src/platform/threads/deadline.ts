/** Until when something may begin, in a form that every thread of the process understands. */

/** Milliseconds of the clock of the process, which runs evenly and is the same in every thread. */
export type Deadline = number;

const NANOSECONDS_PER_MS = 1_000_000n;

const nowMs = (): number => Number(process.hrtime.bigint() / NANOSECONDS_PER_MS);

export const deadlineIn = (timeoutMs: number): Deadline => nowMs() + timeoutMs;
export const isOver = (deadline: Deadline): boolean => nowMs() > deadline;
