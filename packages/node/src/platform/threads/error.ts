/** Errors of calls to another thread. */

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
export class CallError extends Error {
  readonly code: CallErrorCode;
  readonly isRetryable = true;

  constructor(code: CallErrorCode, message: string) {
    super(message);
    this.name = "CallError";
    this.code = code;
  }
}
