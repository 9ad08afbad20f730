/** Why a call to another thread was not answered. */

export type CallErrorCode =
  /** As many calls as may be under way are. */
  | "CALL_REFUSED"
  /** No answer came in time. */
  | "CALL_TIMEOUT"
  /** A message between the threads could not be read; which call it belonged to is not known. */
  | "CALL_LOST"
  /** The other thread has ended, or was closed. */
  | "CALL_CLOSED";

/** The other thread may do it another time. */
export class CallError extends Error {
  readonly code: CallErrorCode;
  readonly isRetryable = true;

  constructor(code: CallErrorCode, message: string) {
    super(message);
    this.name = "CallError";
    this.code = code;
  }
}
