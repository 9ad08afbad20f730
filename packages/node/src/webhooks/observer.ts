/** What the webhook service reports for metrics and health checks. Called often: an implementation must be fast. */
import type { Attempt } from "./deliveries.ts";

/** The outcome of a call, for the log and for the decision what follows. */
export type Attempted = Attempt & {
  /** Header of the response. */
  readonly retryAfter?: string;
  /** Why it is no success, in a few words; absent for a success. */
  readonly reason?: string;
};

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
