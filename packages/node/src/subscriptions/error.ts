/** Errors of subscriptions. */

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

export class SubscriptionError extends Error {
  readonly code: SubscriptionErrorCode;
  readonly isRetryable = false;

  constructor(code: SubscriptionErrorCode, message: string) {
    super(message);
    this.name = "SubscriptionError";
    this.code = code;
  }
}

/** The value of a condition does not fit its operator; `message` follows its name in a sentence. */
export class OperandError extends Error {
  readonly code = "CONDITION_VALUE";
  readonly isRetryable = false;

  constructor(message: string) {
    super(message);
    this.name = "OperandError";
  }
}
