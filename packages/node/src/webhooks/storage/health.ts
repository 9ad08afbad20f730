/** Current health of the targets of webhooks (webhooks.md 10 point 13). Times are milliseconds since 1970. */

import { MINUTE_MS } from "../../platform/clock/durations.ts";
import { withoutNulls } from "../../platform/without-nulls.ts";
import type { Webhook } from "../model/webhook.ts";
import { IS_PENDING, pendingCount, rowsIn } from "./lanes.ts";
import type { Kind, Sql, Steps, Store } from "./sql.ts";
import { IS_REGISTERED } from "./webhooks.ts";

export type WebhookHealth = {
  readonly queued: number;
  /** Attempts that ended within the last hour. */
  readonly lastHour: AttemptCounts;
  /** Present if recent attempts fail and the webhook is on. */
  readonly failing?: Failing;
};

export type AttemptCounts = { readonly succeeded: number; readonly failed: number };

/**
 * `reason`: reason of the last known failure; `sinceMs`: time of the first of the consecutive failures; `nextAttemptMs`: earliest time
 * of the next retry.
 */
export type Failing = {
  readonly reason?: string;
  readonly sinceMs?: number;
  readonly nextAttemptMs?: number;
};

/** A webhook is failing if its last attempt failed, or if more attempts failed than succeeded in this period. */
export const RECENT_MINUTES = 5;
const HOUR_MINUTES = 60;

export type WebhookState = "active" | "failing" | "paused" | "suspended";

export const stateOf = (
  { enabled, suspended }: Pick<Webhook, "enabled" | "suspended">,
  { failing }: Pick<WebhookHealth, "failing">,
): WebhookState => {
  if (!enabled) return "paused";
  if (suspended) return "suspended";
  return failing ? "failing" : "active";
};

/** Number of webhooks in each state, and of all pending deliveries. */
export type HealthTotals = Readonly<Record<WebhookState, number>> & { readonly queued: number };

/** Outcome of an attempt, which the databases count by the minute of its end. */
type CountedOutcome = { readonly webhook: number; readonly atMs: number; readonly failure?: unknown };

export const minuteOf = (atMs: number): number => Math.floor(atMs / MINUTE_MS);

type Count = { webhook: number; minute: number; succeeded: number; failed: number };

/** Counts outcomes by webhook and minute, in the order of their first outcome. */
function countByMinute(outcomes: readonly CountedOutcome[]): Count[] {
  const counts = new Map<string, Count>();
  for (const { webhook, atMs, failure } of outcomes) {
    const minute = minuteOf(atMs);
    const count = counts.get(`${webhook} ${minute}`) ?? { webhook, minute, succeeded: 0, failed: 0 };
    counts.set(`${webhook} ${minute}`, count);
    if (failure) count.failed++;
    else count.succeeded++;
  }
  return [...counts.values()];
}

/**
 * Counts outcomes; must be called in the transaction that records them. Removes the counts of earlier hours, and of minutes in the future,
 * which result from a clock that was set back. A webhook may have been removed during the attempt.
 */
export function* countAttempts(sql: Sql, outcomes: readonly CountedOutcome[]): Steps<void> {
  const counts = countByMinute(outcomes);
  if (counts.length === 0) return;
  if (sql.kind === "postgres") {
    const column = (name: keyof Count) => counts.map((count) => count[name]);
    yield* sql.change(COUNT_ALL, [
      column("webhook"),
      column("minute"),
      column("succeeded"),
      column("failed"),
    ]);
    return;
  }
  for (const { webhook, minute, succeeded, failed } of counts) {
    yield* sql.change(COUNT_ONE, [webhook, minute, succeeded, failed]);
    yield* sql.change("DELETE FROM attempt_counts WHERE webhook = $1 AND (minute <= $2 OR minute > $3)", [
      webhook,
      minute - HOUR_MINUTES,
      minute,
    ]);
  }
}

const COUNT_ONE = `INSERT INTO attempt_counts SELECT id, $2, $3, $4 FROM webhooks WHERE id = $1
  ON CONFLICT (webhook, minute) DO UPDATE SET succeeded = succeeded + excluded.succeeded, failed = failed + excluded.failed`;

const COUNT_ALL = `WITH counts AS (
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::integer[], $4::integer[])
      AS counts (webhook, minute, succeeded, failed)
  ), latest AS (SELECT webhook, max(minute) AS minute FROM counts GROUP BY webhook
  ), past AS (
    DELETE FROM attempt_counts USING latest WHERE attempt_counts.webhook = latest.webhook
      AND attempt_counts.minute <= latest.minute - ${HOUR_MINUTES}
  ), future AS (
    DELETE FROM attempt_counts USING latest WHERE attempt_counts.webhook = latest.webhook
      AND attempt_counts.minute > latest.minute
  )
  INSERT INTO attempt_counts
    SELECT webhooks.id, counts.minute, succeeded, failed
    FROM counts JOIN latest USING (webhook) JOIN webhooks ON webhooks.id = webhook
    WHERE counts.minute > latest.minute - ${HOUR_MINUTES}
    ORDER BY webhooks.id, counts.minute
  ON CONFLICT (webhook, minute) DO UPDATE SET
    succeeded = attempt_counts.succeeded + EXCLUDED.succeeded, failed = attempt_counts.failed + EXCLUDED.failed`;

type HealthRow = AttemptCounts & {
  failures: number;
  sinceMs: number | null;
  nextAttemptMs: number | null;
  queued: number;
  recentlySucceeded: number;
  recentlyFailed: number;
  reason: string | null;
};

/** Health of the targets, from the attempts of the last hour. */
export class HealthRows {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  of(
    { id, enabled, suspended }: Pick<Webhook, "id" | "enabled" | "suspended">,
    nowMs: number,
  ): Promise<WebhookHealth> {
    return this.#store.read(function* (sql) {
      const minute = minuteOf(nowMs);
      const row = yield* sql.row<HealthRow>(healthSql(sql.kind), [
        id,
        minute - HOUR_MINUTES,
        minute - RECENT_MINUTES,
        minute,
      ]);
      if (!row) return { queued: 0, lastHour: { succeeded: 0, failed: 0 } };
      const { failures, reason, sinceMs, nextAttemptMs, queued, succeeded, failed } = row;
      const isFailing = failures > 0 || row.recentlyFailed > row.recentlySucceeded;
      return {
        queued,
        lastHour: { succeeded, failed },
        ...(enabled &&
          !suspended &&
          isFailing && { failing: withoutNulls({ reason, sinceMs, nextAttemptMs }) }),
      };
    });
  }

  totals(nowMs: number): Promise<HealthTotals> {
    return this.#store.read(function* (sql) {
      const minute = minuteOf(nowMs);
      const totals = { active: 0, failing: 0, paused: 0, suspended: 0, queued: 0 };
      const rows = yield* sql.rows<{ state: WebhookState; webhooks: number; queued: number }>(
        totalsSql(sql.kind),
        [minute - RECENT_MINUTES, minute],
      );
      for (const { state, webhooks, queued } of rows) {
        totals[state] += webhooks;
        totals.queued += queued;
      }
      return totals;
    });
  }
}

/** The retry with the latest due time failed last. */
const healthSql = (
  kind: Kind,
): string => `SELECT failures, failing_since_ms AS "sinceMs", ${pendingCount(kind)} AS queued, counts.*,
     (SELECT min(next_attempt_ms) FROM ${rowsIn(kind, "due", "$1")}) AS "nextAttemptMs",
    (SELECT reason FROM deliveries WHERE number = (SELECT number FROM ${rowsIn(kind, "due", "$1")}
      ORDER BY next_attempt_ms DESC LIMIT 1)) AS reason
  FROM webhooks, (
    SELECT coalesce(sum(succeeded), 0) AS succeeded, coalesce(sum(failed), 0) AS failed,
      coalesce(sum(succeeded) FILTER (WHERE minute > $3), 0) AS "recentlySucceeded",
      coalesce(sum(failed) FILTER (WHERE minute > $3), 0) AS "recentlyFailed"
    FROM attempt_counts WHERE webhook = $1 AND minute > $2 AND minute <= $4
  ) AS counts WHERE id = $1`;

/** Returns SQL for the state of a webhook; `isFailing` is true if most of its recent attempts failed. */
export const stateSql = (isFailing: string): string =>
  `CASE WHEN NOT enabled THEN 'paused' WHEN suspended IS NOT NULL THEN 'suspended'
    WHEN failures > 0 OR ${isFailing} THEN 'failing' ELSE 'active' END`;

const PENDING: Readonly<Record<Kind, string>> = {
  sqlite: "SELECT webhook, waiting + retrying + replaying AS deliveries FROM queues",
  postgres: `SELECT webhook, count(*) AS deliveries FROM delivery_lanes WHERE ${IS_PENDING} GROUP BY webhook`,
};

const totalsSql = (kind: Kind): string => `WITH recent AS (
    SELECT webhook, sum(failed) > sum(succeeded) AS is_failing FROM attempt_counts
    WHERE minute > $1 AND minute <= $2 GROUP BY webhook
  ), pending AS (
    ${PENDING[kind]}
  )
  SELECT ${stateSql("is_failing")} AS state, count(*) AS webhooks, coalesce(sum(deliveries), 0) AS queued
  FROM webhooks LEFT JOIN recent ON recent.webhook = id LEFT JOIN pending ON pending.webhook = id
  WHERE ${IS_REGISTERED} GROUP BY 1`;
