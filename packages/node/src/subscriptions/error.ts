/** A request to the register cannot be done. Worth a retry only while something else of the webhook is under way. */
export type WebhookErrorCode =
  /** A field is missing, unknown or out of its bounds. */
  | "WEBHOOK_INVALID"
  /** The register holds as many webhooks, or conditions, as it may. */
  | "WEBHOOK_LIMIT"
  /** No webhook has this id. */
  | "WEBHOOK_UNKNOWN"
  /** The webhook is disabled or suspended. */
  | "WEBHOOK_OFF"
  /** No replay of the webhook is known, or none is running. */
  | "REPLAY_UNKNOWN"
  /** A replay of the webhook is running. */
  | "REPLAY_RUNNING"
  /** A ping of the webhook is under way. */
  | "PING_RUNNING"
  /** The webhook has no delivery of this number or id. */
  | "DELIVERY_UNKNOWN"
  /** The delivery is on its way already. */
  | "DELIVERY_WAITING"
  /** The block that the delivery is about was undone: its receiver was told so. */
  | "DELIVERY_UNDONE";

export class WebhookError extends Error {
  readonly code: WebhookErrorCode;
  readonly isRetryable: boolean;

  constructor(code: WebhookErrorCode, message: string) {
    super(message);
    this.name = "WebhookError";
    this.code = code;
    this.isRetryable = code === "REPLAY_RUNNING" || code === "PING_RUNNING" || code === "DELIVERY_WAITING";
  }
}
