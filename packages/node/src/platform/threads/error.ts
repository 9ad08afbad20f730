/** Errors of calls to another thread. */
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
