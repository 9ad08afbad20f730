/** Receives reports of the webhook service for metrics and health checks. Called often: implementations must be fast. */
import type { Attempt } from "./deliveries.ts";

/** The outcome of a call, for the log and for deciding what follows. */
export type Attempted = Attempt & {
  /** Retry-After header of the response. */
  readonly retryAfter?: string;
  /** Short reason of the failure; absent after a success. */
  readonly reason?: string;
};

export type Decision = "delivered" | "retried" | "failed";

export type WebhookObserver = {
  /** Called when a call to a target has ended, with or without success. */
  attempted(attempted: Attempted): void;
  /** Called with the consequence of an attempt: the delivery succeeded, will be retried, or finally failed. */
  decided(webhook: number, decision: Decision): void;
  /** Called when a run of the dispatcher has ended or failed. */
  runEnded(error?: unknown): void;
};

export const NO_WEBHOOK_OBSERVER: WebhookObserver = { attempted() {}, decided() {}, runEnded() {} };
