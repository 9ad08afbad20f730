/** Errors of subscriptions. */
import { CodedError } from "../platform/coded-error.ts";

/** Reasons why a subscription request is invalid; `message` names the member. */
export type SubscriptionErrorCode =
  /** The request has a member with an unknown name. */
  | "UNKNOWN_MEMBER"
  /** A member is required. */
  | "MISSING_MEMBER"
  /** A member does not have the expected form. */
  | "INVALID_MEMBER"
  /** No event has this name. */
  | "UNKNOWN_EVENT"
  /** This node does not call such a target. */
  | "TARGET_REFUSED";

export class SubscriptionError extends CodedError<SubscriptionErrorCode> {
  constructor(code: SubscriptionErrorCode, message: string) {
    super(code, message, { isRetryable: false });
  }
}

/** The value of a condition does not fit its operator; `message` follows its name in a sentence. */
export class OperandError extends CodedError<"CONDITION_VALUE"> {
  constructor(message: string) {
    super("CONDITION_VALUE", message, { isRetryable: false });
  }
}
