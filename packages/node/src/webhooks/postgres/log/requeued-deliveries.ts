/**
 * Sends deliveries of the log again: puts finished ones back into the queue, or makes pending ones due now. Each works on a single
 * one, a selection, or a range of the log or of a lane.
 */
import type { Postgres, PostgresValue, Transaction } from "../../../postgres/connection.ts";
import type { DeliveryLogRows, Requeued } from "../../delivery-queue.ts";
import { comparisonsOf } from "../../delivery-rows.ts";
import type { DeliveryFilter } from "../../model/deliveries.ts";
import { entriesOf, isIn, type Lane } from "../../storage/lanes.ts";
import { changeQueue } from "../queue-changes.ts";
import { storableText } from "../sql.ts";

/** Returns a filter of deliveries as conditions in SQL, whose parameters are numbered from `first`. */
export function conditionsOf(
  filter: DeliveryFilter,
  first: number,
): { readonly where: string; readonly values: readonly PostgresValue[] } {
  const comparisons = comparisonsOf(filter);
  return {
    where: comparisons.map(([condition], index) => `AND ${condition} $${first + index}`).join(" "),
    values: comparisons.map(([, value]) => (typeof value === "string" ? storableText(value) : value)),
  };
}

/** Beginning of a statement whose first parameter is the time. */
const REQUEUED = `UPDATE deliveries SET state = 'pending', attempts = 0, next_attempt_ms = $1, finished_ms = NULL,
  reason = NULL, replay = NULL,
  target_number = (SELECT target_number FROM webhooks WHERE webhooks.id = deliveries.webhook)`;

/** A retraction is sent again only to the target that it was meant for, and that may have received the fact. */
const IS_USEFUL = `is_retracted IS NOT true AND (reverts IS NULL OR (
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

/** Returns SQL for the entries of a webhook, the first parameter, in a lane. */
const pendingIn = (lane: Lane): string => `SELECT number FROM ${entriesOf(lane, "$1")}`;

/** Failed deliveries of a strict webhook that become due for each selected one: more wait only after they were sent again. */
const HEADS_AT_ONCE = 100;

export function createExpedite(postgres: Postgres): Pick<DeliveryLogRows, "sendNow" | "expediteMatching"> {
  return {
    async sendNow(webhook, numbers, atMs) {
      const { count } = await changeQueue(postgres, webhook, async (transaction) => ({
        count: await sendSome(transaction, webhook, numbers, atMs),
      }));
      return count;
    },
    expediteMatching: (webhook, lane, filter, range, atMs) =>
      changeQueue(postgres, webhook, (transaction) =>
        expediteRange(transaction, { webhook, lane, filter, range, atMs }),
      ),
  };
}

async function sendSome(
  transaction: Transaction,
  webhook: number,
  numbers: readonly number[],
  atMs: number,
): Promise<number> {
  const { query, change } = transaction;
  const heads = await strictHeads(transaction, webhook, atMs, HEADS_AT_ONCE * numbers.length);
  // Waits for outcomes that are being recorded: afterwards, no delivery is between its states.
  const rows = await query<{ number: string; state: string }>(
    "SELECT number, state FROM deliveries WHERE webhook = $1 AND number = ANY ($2) ORDER BY number FOR UPDATE",
    [webhook, [...numbers, ...(heads ?? [])]],
  );
  const requeued = await query<{ number: string }>(
    `${REQUEUED} WHERE webhook = $2 AND number = ANY ($3) AND state <> 'pending' AND ${IS_USEFUL} RETURNING number`,
    [atMs, webhook, numbers],
  );
  const pending = new Set(rows.flatMap(({ number, state }) => (state === "pending" ? Number(number) : [])));
  const waiting = numbers.filter((number) => pending.has(number));
  if (waiting.length > 0) await change(heads ? EXPEDITE_HEADS : EXPEDITE, [atMs, heads ?? waiting]);
  const sent = new Set([...waiting, ...requeued.map(({ number }) => Number(number))]);
  return numbers.filter((number) => sent.has(number)).length;
}

/** Moves deliveries to the retry lane: a due retry does not wait for other deliveries. */
const EXPEDITE = `UPDATE deliveries SET next_attempt_ms = $1, attempts = 0, replay = NULL
  WHERE number = ANY ($2) AND state = 'pending'`;
const EXPEDITE_HEADS = `UPDATE deliveries SET next_attempt_ms = $1
  WHERE number = ANY ($2) AND state = 'pending' AND next_attempt_ms > $1`;

/** Returns the failed deliveries of a strict webhook, which the others follow in order; undefined in parallel order. */
async function strictHeads(
  { query }: Transaction,
  webhook: number,
  atMs: number,
  limit: number,
): Promise<number[] | undefined> {
  const strict = await query("SELECT FROM webhooks WHERE id = $1 AND strict", [webhook]);
  if (strict.length === 0) return undefined;
  const lanes = (["retry", "replay"] as const).map((lane) =>
    query<{ number: string }>(`${pendingIn(lane)} AND next_attempt_ms > $2 LIMIT $3`, [webhook, atMs, limit]),
  );
  return (await Promise.all(lanes)).flat().map(({ number }) => Number(number));
}

type Expedited = {
  readonly webhook: number;
  readonly lane: Lane;
  readonly filter: Omit<DeliveryFilter, "state">;
  readonly range: { readonly after: number; readonly limit: number };
  readonly atMs: number;
};

async function expediteRange(
  { query, change }: Transaction,
  { webhook, lane, filter, range: { after, limit }, atMs }: Expedited,
): Promise<Requeued> {
  const [next] = await query<{ last: string | null }>(
    `SELECT max(number) AS last FROM
     (${pendingIn(lane)} AND number > $2 ORDER BY number LIMIT $3) AS next`,
    [webhook, after, limit],
  );
  const last = next?.last ?? undefined;
  if (last === undefined) return { count: 0 };
  const { where, values } = conditionsOf(filter, 4);
  const matching = await query<{ number: string }>(
    `SELECT number FROM deliveries
     WHERE number = ANY (ARRAY (${pendingIn(lane)} AND number > $2 AND number <= $3)) AND ${isIn(lane)} ${where}
     ORDER BY number ${lane === "first" ? "" : "FOR UPDATE"}`,
    [webhook, after, last, ...values],
  );
  if (lane !== "first" && matching.length > 0) {
    await change(
      `UPDATE deliveries SET next_attempt_ms = $1, attempts = 0
       WHERE number = ANY ($2) AND next_attempt_ms IS NOT NULL`,
      [atMs, matching.map(({ number }) => number)],
    );
  }
  return { count: matching.length, last: Number(last) };
}
