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
