/** Reasons why the command of a hand-over ends. Its state is durable on both sides: the command can be run again. */
import { CodedError } from "../platform/coded-error.ts";

type HandOverFailureCode =
  /** The node cannot be reached, or ended a response early. */
  | "HAND_OVER_NODE"
  /** The node or the database refuses the hand-over. */
  | "HAND_OVER_REFUSED"
  /** The states of both sides contradict each other. */
  | "HAND_OVER_CONFLICT"
  /** The hand-over can only be completed, or none is running. */
  | "HAND_OVER_LATE"
  /** A step did not complete in time. */
  | "HAND_OVER_TIMEOUT";

export class HandOverFailure extends CodedError<HandOverFailureCode> {
  constructor(code: HandOverFailureCode, message: string, options?: ErrorOptions) {
    const isRetryable = code === "HAND_OVER_NODE" || code === "HAND_OVER_TIMEOUT";
    super(code, message, { isRetryable, ...options });
  }
}
