/** A request to the webhook service cannot be done. Retryable while another operation on the webhook is under way. */
export type WebhookErrorCode =
  /** The register has its maximum of webhooks or of conditions. */
  | "WEBHOOK_LIMIT"
  /** No webhook has this id. */
  | "WEBHOOK_UNKNOWN"
  /** The webhook is disabled or suspended. */
  | "WEBHOOK_OFF"
  /** The webhook has no replay, or no running replay. */
  | "REPLAY_UNKNOWN"
  /** A replay of the webhook is running. */
  | "REPLAY_RUNNING"
  /** A ping of the webhook is in progress. */
  | "PING_RUNNING"
  /** The webhook has no delivery of this number or id. */
  | "DELIVERY_UNKNOWN"
  /** The block of the delivery was reverted: a retraction was delivered instead. */
  | "DELIVERY_UNDONE";

export class WebhookError extends Error {
  readonly code: WebhookErrorCode;
  readonly isRetryable: boolean;

  constructor(code: WebhookErrorCode, message: string) {
    super(message);
    this.name = "WebhookError";
    this.code = code;
    this.isRetryable = code === "REPLAY_RUNNING" || code === "PING_RUNNING";
  }
}
