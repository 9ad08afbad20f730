/** The body or the parameters of a subscription request are not valid; `message` names the member. */
export class SubscriptionError extends Error {
  readonly code = "SUBSCRIPTION_INVALID";
  readonly isRetryable = false;

  constructor(message: string) {
    super(message);
    this.name = "SubscriptionError";
  }
}
