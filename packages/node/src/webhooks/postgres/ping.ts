/** Pings in PostgreSQL. */
import type { Transaction } from "../../postgres/connection.ts";
import type { NewPing } from "../register/rows.ts";

/** Puts a ping into the queue of its webhook, which must be locked. */
export async function insertPing(
  { change }: Transaction,
  { webhook, id, event, createdMs, content }: NewPing,
): Promise<void> {
  await change(
    `WITH stored AS (INSERT INTO contents (data, truncated, link) VALUES ($4, $5, $6) RETURNING number)
     INSERT INTO deliveries (number, webhook, id, event, target_number, content, state, created_ms)
     SELECT nextval('delivery_numbers'), webhooks.id, $2, $3, target_number, stored.number, 'pending', $7
     FROM webhooks, stored WHERE webhooks.id = $1`,
    [
      webhook,
      id,
      event,
      content.dataText ?? null,
      content.truncated ?? null,
      content.link ?? null,
      createdMs,
    ],
  );
}
