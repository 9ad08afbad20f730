/** Drops all rows of webhooks, while another side owns them: some rows at a time, because consensus shares the database. */
import type { Database } from "../../../store/engine/database.ts";
import { TABLE_NAMES } from "../../hand-over/tables.ts";

export type DropRows = {
  /** Drops some rows; returns `false` if none remain. */
  step(): boolean;
  isEmpty(): boolean;
};

/** Rows dropped in one transaction: some milliseconds of the writer. */
const ROWS_AT_ONCE = 200;

/**
 * Tables whose rows are not dropped with others: deliveries have attempts, and their last one drops a content. Webhooks have
 * queues, aliases, replays and counts.
 */
const ROOTS = [
  "deliveries",
  "contents",
  "unconfirmed_events",
  "block_reverts",
  "webhooks",
  "removed_webhooks",
] as const;
/** Tables without a rowid, with their keys. */
const KEYS: Readonly<Record<string, string>> = {
  unconfirmed_events: "(webhook, sequence)",
  block_reverts: "(block_id, sequence)",
};

export function createDropRows(database: Database): DropRows {
  const drops = ROOTS.map((table) => {
    const key = KEYS[table] ?? "rowid";
    const columns = key.replace(/[()]/g, "");
    return database.prepare(
      `DELETE FROM ${table} WHERE ${key} IN (SELECT ${columns} FROM ${table} LIMIT ${ROWS_AT_ONCE})`,
    );
  });
  const any = TABLE_NAMES.map((name) => database.prepare(`SELECT 1 FROM ${name} LIMIT 1`));
  return {
    step: () => drops.some((drop) => drop.run().changes > 0),
    isEmpty: () => any.every((select) => select.get() === undefined),
  };
}
