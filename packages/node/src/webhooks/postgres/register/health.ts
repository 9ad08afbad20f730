/** Health of the targets of webhooks in PostgreSQL: attempts are counted by the minute, for an hour. */
import type { Postgres, Transaction } from "../../../postgres/connection.ts";
import {
  type CountedOutcome,
  countByMinute,
  type HealthRows,
  HOUR_MINUTES,
  minuteOf,
  RECENT_MINUTES,
  type WebhookState,
} from "../../health.ts";
import { entriesOf, IS_PENDING, pendingCount } from "../../storage/lanes.ts";

/** Counts outcomes; must be called in the transaction that records them, which has locked the register. */
export async function countAttempts(
  { change }: Transaction,
  outcomes: readonly CountedOutcome[],
): Promise<void> {
  const counts = countByMinute(outcomes);
  if (counts.length === 0) return;
  await change(COUNT, [
    counts.map(({ webhook }) => webhook),
    counts.map(({ minute }) => minute),
    counts.map(({ succeeded }) => succeeded),
    counts.map(({ failed }) => failed),
  ]);
}

/**
 * Adds counts, and removes those of earlier hours. Minutes in the future result from a clock that was set back. A webhook may
 * have been removed during the attempt.
 */
const COUNT = `WITH counts AS (
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

/** Forgets the attempts of a webhook, when they say nothing about its target any longer. */
export async function forgetAttempts({ change }: Transaction, webhook: number): Promise<void> {
  await change("DELETE FROM attempt_counts WHERE webhook = $1", [webhook]);
}

type HealthRow = {
  failures: number;
  failing_since_ms: string | null;
  queued: string;
  succeeded: string;
  failed: string;
  recently_succeeded: string;
  recently_failed: string;
  reason: string | null;
};

export const createPostgresHealth = ({ query }: Pick<Postgres, "query">): HealthRows => ({
  async of({ id, enabled, suspended }, nowMs) {
    const minute = minuteOf(nowMs);
    const [row] = await query<HealthRow>(HEALTH, [
      id,
      minute - HOUR_MINUTES,
      minute - RECENT_MINUTES,
      minute,
    ]);
    if (!row) return { queued: 0, lastHour: { succeeded: 0, failed: 0 } };
    const { failures, failing_since_ms, reason, recently_failed, recently_succeeded } = row;
    const isFailing = failures > 0 || Number(recently_failed) > Number(recently_succeeded);
    return {
      queued: Number(row.queued),
      lastHour: { succeeded: Number(row.succeeded), failed: Number(row.failed) },
      ...(enabled &&
        !suspended &&
        isFailing && {
          failing: {
            ...(reason !== null && { reason }),
            ...(failing_since_ms !== null && { sinceMs: Number(failing_since_ms) }),
          },
        }),
    };
  },
  async totals(nowMs) {
    const minute = minuteOf(nowMs);
    const totals = { active: 0, failing: 0, paused: 0, suspended: 0, queued: 0 };
    const rows = await query<{ state: WebhookState; webhooks: number; queued: string }>(TOTALS, [
      minute - RECENT_MINUTES,
      minute,
    ]);
    for (const { state, webhooks, queued } of rows) {
      totals[state] += webhooks;
      totals.queued += Number(queued);
    }
    return totals;
  },
});

/** The retry with the latest due time failed last. */
const HEALTH = `SELECT failures, failing_since_ms, ${pendingCount("postgres", "$1")} AS queued, counts.*,
    (SELECT reason FROM deliveries WHERE number = (SELECT number FROM ${entriesOf("retry", "$1")}
      ORDER BY next_attempt_ms DESC LIMIT 1)) AS reason
  FROM webhooks, (
    SELECT coalesce(sum(succeeded), 0) AS succeeded, coalesce(sum(failed), 0) AS failed,
      coalesce(sum(succeeded) FILTER (WHERE minute > $3), 0) AS recently_succeeded,
      coalesce(sum(failed) FILTER (WHERE minute > $3), 0) AS recently_failed
    FROM attempt_counts WHERE webhook = $1 AND minute > $2 AND minute <= $4
  ) AS counts WHERE id = $1`;

const TOTALS = `WITH recent AS (
    SELECT webhook, sum(failed) > sum(succeeded) AS is_failing FROM attempt_counts
    WHERE minute > $1 AND minute <= $2 GROUP BY webhook
  ), pending AS (
    SELECT webhook, count(*) AS deliveries FROM delivery_lanes WHERE ${IS_PENDING} GROUP BY webhook
  )
  SELECT CASE WHEN NOT enabled THEN 'paused' WHEN suspended IS NOT NULL THEN 'suspended'
      WHEN failures > 0 OR is_failing THEN 'failing' ELSE 'active' END AS state,
    count(*)::integer AS webhooks, coalesce(sum(deliveries), 0) AS queued
  FROM webhooks LEFT JOIN recent ON recent.webhook = id LEFT JOIN pending ON pending.webhook = id GROUP BY 1`;
