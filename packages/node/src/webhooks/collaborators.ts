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
  /** Time by which deliveries become due, milliseconds since 1970: see `SteadyTime`. */
  steadyMs(): number;
  /** Calls `work` after a delay, unless the returned function is called before. */
  after(delayMs: number, work: () => void): () => void;
};

/** Time after which a clock that was set ahead stays ahead. A node that starts before its clock is set also needs this. */
export const LASTING_MS = 10 * MINUTE_MS;
/** Difference of the clocks that is not followed: delays vary by more. */
const TOLERANCE_MS = SECOND_MS;

/**
 * A clock that begins with the wall time, and then advances with the monotonic clock: a delay ends when it has passed, even if the
 * wall time was wrong for some seconds. It follows a wall time that stays ahead, by which other processes make deliveries due, but
 * never one that was set back: every waiting delivery would wait longer.
 */
export class SteadyTime {
  readonly #times: Pick<Clock, "nowMs" | "elapsedMs">;
  #startMs: number;
  #aheadSinceMs: number | undefined;

  constructor(times: Pick<Clock, "nowMs" | "elapsedMs">) {
    this.#times = times;
    this.#startMs = times.nowMs() - times.elapsedMs();
  }

  nowMs(): number {
    const passedMs = this.#times.elapsedMs();
    const aheadMs = this.#times.nowMs() - (this.#startMs + passedMs);
    if (aheadMs <= TOLERANCE_MS) this.#aheadSinceMs = undefined;
    else this.#aheadSinceMs ??= passedMs;
    if (this.#aheadSinceMs !== undefined && passedMs - this.#aheadSinceMs >= LASTING_MS)
      this.#startMs += aheadMs;
    return Math.round(this.#startMs + passedMs);
  }
}

const systemTimes = { nowMs: Date.now, elapsedMs: () => performance.now() };
const steadyTime = new SteadyTime(systemTimes);

export const systemClock: Clock = {
  ...systemTimes,
  steadyMs: () => steadyTime.nowMs(),
  after(delayMs, work) {
    const timer = setTimeout(work, delayMs);
    return () => clearTimeout(timer);
  },
};

/** The outcome of a call, for the log and for its consequences. */
export type Attempted = Attempt & {
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

/** Logs the first of consecutive failures, and the first success afterwards. */
export class FailureLog {
  readonly #logger: Pick<Logger, "info" | "warn">;
  readonly #failed: string;
  readonly #works: string | undefined;
  #isFailing = false;

  /** @param works text after a failure; absent: a success is not logged */
  constructor(logger: Pick<Logger, "info" | "warn">, failed: string, works?: string) {
    this.#logger = logger;
    this.#failed = failed;
    this.#works = works;
  }

  noteFailure(err: unknown, fields: Readonly<Record<string, unknown>> = {}): void {
    if (!this.#isFailing) this.#logger.warn({ err, ...fields }, this.#failed);
    this.#isFailing = true;
  }

  noteSuccess(): void {
    if (this.#isFailing && this.#works !== undefined) this.#logger.info(this.#works);
    this.#isFailing = false;
  }
}
