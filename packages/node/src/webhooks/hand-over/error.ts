/** Reasons why a hand-over does not begin or continue. */
import { CodedError } from "../../platform/coded-error.ts";

export type HandOverErrorCode =
  /** The webhooks belong to another chain, or the mirror copies the events of another node. */
  | "OTHER_NODE"
  /** The log of one side does not have all events that are not matched yet. */
  | "EVENTS_MISSING"
  /** A part of the rows is not the next one: another command sends them as well. */
  | "PART_UNEXPECTED"
  /** A step is not complete yet; retry in a moment. */
  | "NOT_READY";

export class HandOverError extends CodedError<HandOverErrorCode> {
  constructor(code: HandOverErrorCode, message: string) {
    super(code, message, { isRetryable: code === "NOT_READY" });
  }
}
