/** Calls to another thread: their deadlines and errors. */
import { CodedError } from "../coded-error.ts";

export type CallErrorCode =
  /** Too many calls are open. */
  | "CALL_REFUSED"
  /** No result arrived before the deadline. */
  | "CALL_TIMEOUT"
  /** A message between the threads could not be read; the call that it belonged to is unknown. */
  | "CALL_LOST"
  /** The other thread has ended, or was closed. */
  | "CALL_CLOSED";

/** A call to another thread failed; a later call may succeed. */
export class CallError extends CodedError<CallErrorCode> {
  constructor(code: CallErrorCode, message: string) {
    super(code, message, { isRetryable: true });
  }
}

/** Milliseconds of the monotonic clock, which is the same in every thread. */
export type Deadline = number;

const NANOSECONDS_PER_MS = 1_000_000n;

const nowMs = (): number => Number(process.hrtime.bigint() / NANOSECONDS_PER_MS);

export const deadlineIn = (timeoutMs: number): Deadline => nowMs() + timeoutMs;
export const isOver = (deadline: Deadline): boolean => nowMs() > deadline;
