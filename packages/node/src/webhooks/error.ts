/** Reasons why the webhook service refuses a request. Retryable if another operation on the webhook is running. */
import { CodedError } from "../platform/coded-error.ts";

export type WebhookErrorCode =
  /** The register has its maximum of webhooks or of conditions. */
  | "WEBHOOK_LIMIT"
  /** No webhook has this id. */
  | "WEBHOOK_UNKNOWN"
  /** The webhook is disabled or suspended. */
  | "WEBHOOK_OFF"
  /** The pending deliveries of the webhook are being finished, after a suspension or because they were dropped. */
  | "QUEUE_ENDING"
  /** The webhook has no (running) replay. */
  | "REPLAY_UNKNOWN"
  /** A replay of the webhook is running. */
  | "REPLAY_RUNNING"
  /** A ping of the webhook is running. */
  | "PING_RUNNING"
  /** The webhook has no delivery of this number or id. */
  | "DELIVERY_UNKNOWN"
  /** The block of the delivery was reverted: a retraction was delivered instead. */
  | "DELIVERY_UNDONE"
  /** The webhooks are being handed over; retry in a moment. */
  | "WEBHOOKS_IN_TRANSFER"
  /** Delivery workers own the webhooks: their register is in PostgreSQL. */
  | "WEBHOOKS_OF_WORKERS"
  /** The secrets of webhooks cannot be decrypted in this process. */
  | "WEBHOOK_KEY_MISSING"
  /** The database of this process is a replica, or its user must not write. */
  | "WEBHOOKS_READ_ONLY";

const RETRYABLE: readonly WebhookErrorCode[] = [
  "QUEUE_ENDING",
  "REPLAY_RUNNING",
  "PING_RUNNING",
  "WEBHOOKS_IN_TRANSFER",
];

export class WebhookError extends CodedError<WebhookErrorCode> {
  constructor(code: WebhookErrorCode, message: string) {
    super(code, message, { isRetryable: RETRYABLE.includes(code) });
  }
}
