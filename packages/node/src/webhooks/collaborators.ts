/** Collaborators of the webhook service: its clock, and its observer for metrics, health checks and the log. */
import type { Logger } from "pino";
import { MINUTE_MS, SECOND_MS } from "../platform/clock/durations.ts";
import type { Attempt } from "./model/deliveries.ts";

/** The time and timers of the webhook service. */
export type Clock = {
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Milliseconds of a monotonic clock, unaffected by changes of the wall time. */
  elapsedMs(): number;
  /** Time by which deliveries become due, milliseconds since 1970: see `createSteadyTime`. */
  steadyMs(): number;
  /** Calls `work` after a delay, unless the returned function is called before. */
  after(delayMs: number, work: () => void): () => void;
};

/** Time after which a clock that was set ahead stays ahead. A node that starts before its clock is set also needs this. */
export const LASTING_MS = 10 * MINUTE_MS;
/** Difference of the clocks that is not followed: delays vary by more. */
const TOLERANCE_MS = SECOND_MS;

/**
 * Returns a clock that begins with the wall time, and then advances with the monotonic clock: a delay ends when it has passed,
 * even if the wall time was wrong for some seconds. It follows a wall time that stays ahead, by which other processes make
 * deliveries due, but never one that was set back: every waiting delivery would wait longer.
 */
export function createSteadyTime({ nowMs, elapsedMs }: Pick<Clock, "nowMs" | "elapsedMs">): () => number {
  let startMs = nowMs() - elapsedMs();
  let aheadSinceMs: number | undefined;
  return () => {
    const passedMs = elapsedMs();
    const aheadMs = nowMs() - (startMs + passedMs);
    if (aheadMs <= TOLERANCE_MS) aheadSinceMs = undefined;
    else aheadSinceMs ??= passedMs;
    if (aheadSinceMs !== undefined && passedMs - aheadSinceMs >= LASTING_MS) startMs += aheadMs;
    return Math.round(startMs + passedMs);
  };
}

const systemTimes = { nowMs: Date.now, elapsedMs: () => performance.now() };

export const systemClock: Clock = {
  ...systemTimes,
  steadyMs: createSteadyTime(systemTimes),
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
