/** Reports of the webhook service: to an observer, for metrics and health checks, and of suspensions to the log. */
import type { Logger } from "pino";
import type { Attempt } from "./deliveries.ts";

/** The outcome of a call, for the log and for deciding what follows. */
export type Attempted = Attempt & {
  /** Retry-After header of the response. */
  readonly retryAfter?: string;
  /** Short reason of the failure; absent after a success. */
  readonly reason?: string;
};

export type Decision = "delivered" | "retried" | "failed";

/** Called often: implementations must be fast. */
export type WebhookObserver = {
  /** Called when a call to a target has ended, with or without success. */
  attempted(attempted: Attempted): void;
  /** Called with the consequence of an attempt: the delivery succeeded, will be retried, or finally failed. */
  decided(webhook: number, decision: Decision): void;
  /** Called when a run of the dispatcher has ended or failed. */
  runEnded(error?: unknown): void;
};

export const NO_WEBHOOK_OBSERVER: WebhookObserver = { attempted() {}, decided() {}, runEnded() {} };

export function logSuspension(logger: Pick<Logger, "info">, webhook: number, reason: string): void {
  logger.info({ webhook, reason }, "webhook suspended until it is updated or a ping succeeds");
}
