/** Puts deliveries into queues. The rows of the queues must be locked. */
import type { PostgresValue, Transaction } from "../../../postgres/connection.ts";
import type { NewDelivery } from "../../model/deliveries.ts";

export type InsertedDelivery = NewDelivery;

/** Types of the inserted columns, in the order of `columnsOf`. */
const TYPES = ["bigint", "text", "bigint", "text", "bigint", "text", "boolean", "text", "bigint", "bigint"];

const columnsOf = (delivery: NewDelivery): PostgresValue[] => [
  delivery.webhook,
  delivery.id,
  delivery.sequence ?? null,
  delivery.event,
  delivery.height ?? null,
  delivery.blockId ?? null,
  delivery.isRetractable ? false : null,
  delivery.reverts ?? null,
  delivery.replay ?? null,
  delivery.content,
];

/** Inserts deliveries in their order, with ascending numbers. */
export async function insertDeliveries(
  { change }: Transaction,
  deliveries: readonly InsertedDelivery[],
  atMs: number,
): Promise<void> {
  const rows = deliveries.map(columnsOf);
  const arrays = TYPES.map((_, column) => rows.map((row) => row[column] ?? null));
  await change(
    `INSERT INTO deliveries (number, webhook, id, sequence, event, height, block_id, is_retracted, reverts, replay,
       content, state, created_ms, target_number)
     SELECT nextval('delivery_numbers'), delivery.*, 'pending', $${TYPES.length + 1},
       coalesce((SELECT target_number FROM webhooks WHERE id = delivery.webhook), 0)
     FROM (SELECT webhook, id, sequence, event, height, block_id, is_retracted, reverts, replay, content
       FROM unnest(${TYPES.map((type, index) => `$${index + 1}::${type}[]`).join(", ")}) WITH ORDINALITY
         AS given (webhook, id, sequence, event, height, block_id, is_retracted, reverts, replay, content, place)
       ORDER BY place) AS delivery`,
    [...arrays, atMs],
  );
}

/** Returns finished deliveries to the replay lane. */
export async function putAgain(
  { change }: Transaction,
  again: readonly { readonly number: number; readonly position: number }[],
): Promise<void> {
  await change(
    `UPDATE deliveries SET state = 'pending', attempts = 0, next_attempt_ms = NULL, finished_ms = NULL, reason = NULL,
       replay = again.position,
       target_number = coalesce((SELECT target_number FROM webhooks WHERE id = webhook), target_number)
     FROM unnest($1::bigint[], $2::bigint[]) AS again (number, position) WHERE deliveries.number = again.number`,
    [again.map(({ number }) => number), again.map(({ position }) => position)],
  );
}
