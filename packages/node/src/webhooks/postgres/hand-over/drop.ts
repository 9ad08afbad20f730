/** Drops all rows of webhooks in PostgreSQL. */
import type { Transaction } from "../../../postgres/connection.ts";

/** Tables whose rows are not dropped with those of `webhooks`. */
const OTHERS = [
  "removed_webhooks",
  "queue_changes",
  "contents",
  "deliveries",
  "delivery_lanes",
  "attempts",
  "block_reverts",
  "unconfirmed_events",
];

export async function dropAllRows({ query, change }: Transaction): Promise<void> {
  // A table that is truncated cannot be read until the end of the transaction; most are empty.
  for (const table of OTHERS) {
    const [row] = await query(`SELECT 1 FROM ${table} LIMIT 1`);
    if (row) await change(`TRUNCATE ${table}`);
  }
  await change("DELETE FROM webhooks");
}
