/** Puts finished deliveries back into the queue: a single one, a range of the log at a time, or a selection. */
import type { Postgres } from "../../../postgres/connection.ts";
import type { DeliveryLogRows } from "../../delivery-queue.ts";
import { entriesOf } from "../lanes.ts";
import { changeQueue } from "../queues/changed-queues.ts";
import { conditionsOf } from "./filters.ts";

/** Beginning of a statement whose first parameter is the time. */
export const REQUEUED = `UPDATE deliveries SET state = 'pending', attempts = 0, next_attempt_ms = $1, finished_ms = NULL,
  reason = NULL, replay = NULL,
  target_number = (SELECT target_number FROM webhooks WHERE webhooks.id = deliveries.webhook)`;

/** A retraction is sent again only to the target that it was meant for, and that may have received the fact. */
export const IS_USEFUL = `is_retracted IS NOT true AND (reverts IS NULL OR (
  target_number = (SELECT target_number FROM webhooks WHERE webhooks.id = deliveries.webhook)
  AND EXISTS (SELECT FROM deliveries AS fact JOIN attempts ON attempts.delivery = fact.number
    WHERE fact.id = deliveries.reverts AND fact.webhook = deliveries.webhook)))`;

export function createRequeue(postgres: Postgres): Pick<DeliveryLogRows, "requeue" | "requeueMatching"> {
  return {
    async requeue(number, atMs) {
      const [row] = await postgres.query<{ webhook: string }>(
        "SELECT webhook FROM deliveries WHERE number = $1",
        [number],
      );
      if (!row) return false;
      const { count } = await changeQueue(postgres, Number(row.webhook), async ({ change }) => ({
        count: await change(`${REQUEUED} WHERE number = $2 AND state <> 'pending' AND ${IS_USEFUL}`, [
          atMs,
          number,
        ]),
      }));
      return count > 0;
    },
    requeueMatching: (webhook, filter, { after, limit }, atMs) =>
      changeQueue(postgres, webhook, async ({ query, change }) => {
        // Both conditions have an index with their order.
        const range =
          filter.state === "failed"
            ? `${entriesOf("failed", "$1")} AND number > $2 ORDER BY number`
            : "deliveries WHERE webhook <= $1 AND (webhook, number) > ($1, $2) ORDER BY webhook, number";
        const [next] = await query<{ last: string | null }>(
          `SELECT max(number) AS last FROM (SELECT number FROM ${range} LIMIT $3) AS next`,
          [webhook, after, limit],
        );
        const last = next?.last ?? undefined;
        if (last === undefined) return { count: 0 };
        const { where, values } = conditionsOf(filter, 5);
        const count = await change(
          `${REQUEUED} WHERE number = ANY (ARRAY (
             SELECT number FROM deliveries WHERE webhook = $2 AND number > $3 AND number <= $4 AND sequence IS NOT NULL
             AND ${IS_USEFUL} ${where} ORDER BY number FOR UPDATE))`,
          [atMs, webhook, after, last, ...values],
        );
        return { count, last: Number(last) };
      }),
  };
}
