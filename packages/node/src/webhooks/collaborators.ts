/** Collaborators of the webhook service: its clock, and its observer for metrics, health checks and the log. */
import type { Logger } from "pino";
import type { Attempt } from "./model/deliveries.ts";

/** The time and timers of the webhook service. */
export type Clock = {
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Milliseconds of a monotonic clock, unaffected by changes of the wall time. */
  elapsedMs(): number;
  /** Calls `work` after a delay, unless the returned function is called before. */
  after(delayMs: number, work: () => void): () => void;
};

export const systemClock: Clock = {
  nowMs: Date.now,
  elapsedMs: () => performance.now(),
  after(delayMs, work) {
    const timer = setTimeout(work, delayMs);
    return () => clearTimeout(timer);
  },
};

/** The outcome of a call, for the log and for its consequences. */
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
