/**
 * Health of a webhook's target: consecutive failures, the suspension that ends them (webhooks.md 10 point 6), and attempts by the
 * minute, which are counted for an hour.
 */

import type { Database } from "../../store/engine/database.ts";
import {
  type AttemptCounts,
  type CountedOutcome,
  countByMinute,
  type Failing,
  type HealthRows,
  HOUR_MINUTES,
  minuteOf,
  RECENT_MINUTES,
  type WebhookState,
} from "../health.ts";
import type { Sync } from "./sql.ts";

/** Number of consecutive failures, and the time of the first. */
type Failures = { readonly failures: number; readonly failingSinceMs: number };

type WebhookHealthStore = {
  recordSuccess(id: number): void;
  recordFailure(id: number, atMs: number): Failures;
  /** Lifts the suspension and resets the failures; the webhook receives the events after a sequence. */
  resume(id: number, after: number): void;
};

export function createWebhookHealthStore(database: Database): WebhookHealthStore {
  const recordSuccess = database.prepare(
    "UPDATE webhooks SET failures = 0, failing_since_ms = NULL WHERE id = ? AND failures > 0",
  );
  const recordFailure = database.prepare<Failures>(
    `UPDATE webhooks SET failures = failures + 1, failing_since_ms = coalesce(failing_since_ms, ?) WHERE id = ?
     RETURNING failures, failing_since_ms AS failingSinceMs`,
  );
  const resume = database.prepare(
    `UPDATE webhooks SET suspended = NULL, suspended_ms = NULL, failures = 0, failing_since_ms = NULL, active_after = ?
     WHERE id = ? AND suspended IS NOT NULL`,
  );
  return {
    recordSuccess: (id) => void recordSuccess.run(id),
    // The webhook may have been deleted during the attempt.
    recordFailure: (id, atMs) => recordFailure.get(atMs, id) ?? { failures: 1, failingSinceMs: atMs },
    resume: (id, after) => void resume.run(after, id),
  };
}

type AttemptCountStore = {
  /** Counts outcomes; must be called in the transaction that records them. */
  add(outcomes: readonly CountedOutcome[]): void;
  /** Returns the counts of the last minutes, including the current one. */
  last(webhook: number, minutes: number, nowMs: number): AttemptCounts;
};

export function createAttemptCountStore(database: Database): AttemptCountStore {
  // The webhook may have been removed during the attempt.
  const add = database.prepare(
    `INSERT INTO attempt_counts SELECT id, ?, ?, ? FROM webhooks WHERE id = ?
     ON CONFLICT (webhook, minute) DO UPDATE SET succeeded = succeeded + excluded.succeeded, failed = failed + excluded.failed`,
  );
  // Minutes in the future result from a clock that was set back.
  const prune = database.prepare(
    "DELETE FROM attempt_counts WHERE webhook = ? AND (minute <= ? OR minute > ?)",
  );
  const last = database.prepare<AttemptCounts>(
    `SELECT coalesce(sum(succeeded), 0) AS succeeded, coalesce(sum(failed), 0) AS failed
     FROM attempt_counts WHERE webhook = ? AND minute > ? AND minute <= ?`,
  );
  return {
    add(outcomes) {
      for (const { webhook, minute, succeeded, failed } of countByMinute(outcomes)) {
        add.run(minute, succeeded, failed, webhook);
        prune.run(webhook, minute - HOUR_MINUTES, minute);
      }
    },
    last: (webhook, minutes, nowMs) =>
      last.get(webhook, minuteOf(nowMs) - minutes, minuteOf(nowMs)) ?? { succeeded: 0, failed: 0 },
  };
}

export function createHealthRows(database: Database): Sync<HealthRows> {
  const counts = createAttemptCountStore(database);
  const queued = database.prepare<{ queued: number }>(
    "SELECT waiting + retrying + replaying AS queued FROM queues WHERE webhook = ?",
  );
  const failures = database.prepare<{ failures: number; failing_since_ms: number | null }>(
    "SELECT failures, failing_since_ms FROM webhooks WHERE id = ?",
  );
  // The retry with the latest due time failed last.
  const reason = database.prepare<{ reason: string | null }>(
    `SELECT reason FROM deliveries INDEXED BY deliveries_retry WHERE webhook = +? AND state = 'pending'
     AND next_attempt_ms IS NOT NULL AND replay IS NULL ORDER BY next_attempt_ms DESC LIMIT 1`,
  );
  const states = database.prepare<{ state: WebhookState; webhooks: number; queued: number }>(
    `SELECT CASE WHEN enabled = 0 THEN 'paused' WHEN suspended IS NOT NULL THEN 'suspended'
       WHEN failures > 0 OR (SELECT sum(failed) > sum(succeeded) FROM attempt_counts
         WHERE attempt_counts.webhook = id AND minute > ? AND minute <= ?) THEN 'failing' ELSE 'active' END AS state,
       count(*) AS webhooks, sum(waiting + retrying + replaying) AS queued
     FROM webhooks JOIN queues ON queues.webhook = id GROUP BY 1`,
  );

  function failingOf(webhook: number, nowMs: number): Failing | undefined {
    const row = failures.get(webhook);
    const recent = counts.last(webhook, RECENT_MINUTES, nowMs);
    if (!row || (row.failures === 0 && recent.failed <= recent.succeeded)) return undefined;
    const known = reason.get(webhook)?.reason;
    return {
      ...(typeof known === "string" && { reason: known }),
      ...(row.failing_since_ms !== null && { sinceMs: row.failing_since_ms }),
    };
  }

  return {
    of({ id, enabled, suspended }, nowMs) {
      const failing = enabled && !suspended ? failingOf(id, nowMs) : undefined;
      return {
        queued: queued.get(id)?.queued ?? 0,
        lastHour: counts.last(id, HOUR_MINUTES, nowMs),
        ...(failing && { failing }),
      };
    },
    totals(nowMs) {
      const minute = minuteOf(nowMs);
      const totals = { active: 0, failing: 0, paused: 0, suspended: 0, queued: 0 };
      for (const { state, webhooks, queued } of states.all(minute - RECENT_MINUTES, minute)) {
        totals[state] += webhooks;
        totals.queued += queued;
      }
      return totals;
    },
  };
}
