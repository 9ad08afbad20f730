/** What the webhook service reports for metrics and health checks. Called often: an implementation must be fast. */
import type { Attempted } from "./delivery/attempt.ts";

export type Decision = "delivered" | "retried" | "failed";

export type WebhookObserver = {
  /** A call to a target has ended, with or without success. */
  attempted(attempted: Attempted): void;
  /** What follows from an attempt: the delivery has succeeded, another attempt follows, or it has failed for good. */
  decided(webhook: number, decision: Decision): void;
  /** A run of the dispatcher has ended, or has failed with an error. */
  runEnded(error?: unknown): void;
};

export const NO_WEBHOOK_OBSERVER: WebhookObserver = { attempted() {}, decided() {}, runEnded() {} };
