/** Schedule of retries (webhooks.md 10 point 4). */
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../platform/clock/durations.ts";

/** Maximum random change of a pause, as a fraction; spreads the retries of many deliveries. */
const JITTER = 0.2;

export const MAX_RETRY_AFTER_MS = 24 * HOUR_MS;

type FailedAttempt = {
  /** Number of attempts, including this one. */
  readonly attempts: number;
  /** Time of the failure on the clock of due times. */
  readonly atMs: number;
  readonly retryAfterMs?: number;
};

/** Returns the time of the next attempt in milliseconds; undefined after the last one. `random` is in [0, 1). */
export function nextAttemptAt(
  { attempts, atMs, retryAfterMs = 0 }: FailedAttempt,
  pausesMs: readonly number[],
  random: () => number,
): number | undefined {
  const pauseMs = pausesMs[attempts - 1];
  if (pauseMs === undefined) return undefined;
  const jitteredMs = Math.round(pauseMs * (1 + JITTER * (2 * random() - 1)));
  return atMs + Math.max(jitteredMs, retryAfterMs);
}

/** Returns the longest delay of `nextAttemptAt`. */
export const longestDelayMs = (pausesMs: readonly number[]): number =>
  Math.max(MAX_RETRY_AFTER_MS, Math.ceil(Math.max(...pausesMs) * (1 + JITTER)));

/** Parses the delay of a Retry-After header, seconds or a date (RFC 9110 section 10.2.3); 0 for any other text. */
export function parseRetryAfterMs(header: string | undefined, nowMs: number): number {
  if (header === undefined) return 0;
  const dateMs = Date.parse(header);
  const requestedMs = /^\d+$/.test(header) ? Number(header) * SECOND_MS : dateMs - nowMs;
  return Number.isNaN(requestedMs) ? 0 : Math.max(0, Math.min(requestedMs, MAX_RETRY_AFTER_MS));
}

/** Milliseconds for which a target gets no calls. */
export type Pauses = {
  /** Time until the next probe of a failing target; a success ends it. */
  readonly probeMs: number;
  /** Time that the target requested by 429 or Retry-After; outcomes of calls that began earlier do not shorten it. */
  readonly requestedMs: number;
};

export const NO_PAUSES: Pauses = { probeMs: 0, requestedMs: 0 };

/** Pause after HTTP 429 without a Retry-After header. */
const TOO_MANY_PAUSE_MS = 5 * SECOND_MS;

/** Returns the time for which the target refuses all requests; 0 if its response concerns one delivery only. */
export const targetPauseMs = (status: number | undefined, retryAfterMs: number): number =>
  status === 429 ? Math.max(retryAfterMs, TOO_MANY_PAUSE_MS) : retryAfterMs;

/** Consecutive failures after which the target counts as failing, not the delivery. */
export const FAILURES_BEFORE_PROBING = 20;
const FIRST_PROBE_MS = 5 * SECOND_MS;
const MAX_PROBE_MS = 5 * MINUTE_MS;

/**
 * Returns the pause for a target with this many consecutive failures. After the pause, one call at a time probes the
 * target, so that failing targets do not use the call slots of working targets.
 */
export function probePauseMs(failures: number): number {
  if (failures < FAILURES_BEFORE_PROBING) return 0;
  return Math.min(FIRST_PROBE_MS * 2 ** Math.min(failures - FAILURES_BEFORE_PROBING, 10), MAX_PROBE_MS);
}
