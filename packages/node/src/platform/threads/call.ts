/** Calls to another thread or process: their deadlines and errors. */
import { CodedError } from "../coded-error.ts";

const CODES = [
  /** Too many calls are open. */
  "CALL_REFUSED",
  /** No result arrived before the deadline. */
  "CALL_TIMEOUT",
  /** The result was lost: a message or a response could not be read. The call may have been executed. */
  "CALL_LOST",
  /** The other side has ended or was closed. */
  "CALL_CLOSED",
  /** No process that can execute the call responds. */
  "CALL_UNREACHABLE",
] as const;

export type CallErrorCode = (typeof CODES)[number];

export const isCallErrorCode = (code: unknown): code is CallErrorCode => CODES.some((each) => each === code);

/** A call to another thread or process failed; a later call may succeed. */
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
/** Milliseconds until the deadline; 0 after it. */
export const remainingMs = (deadline: Deadline): number => Math.max(0, deadline - nowMs());
