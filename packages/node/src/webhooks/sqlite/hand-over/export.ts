/** Reads all rows of webhooks for a hand-over, from one snapshot on a separate connection: writes continue meanwhile. */
import { type Database, openDatabase, type SqlValue } from "../../../store/engine/database.ts";
import { createEventLog } from "../../../store/events/event-log.ts";
import { createMetaStore } from "../../../store/node/meta.ts";
import { FORMAT, type HandOverLine, partsOf } from "../../hand-over/lines.ts";
import {
  type HandOverRow,
  namesOf,
  orderOf,
  TABLE_NAMES,
  TABLES,
  type TableName,
  toHandOver,
} from "../../hand-over/tables.ts";
import { READER } from "../../intake.ts";
import type { SecretCipher } from "../../secrets.ts";

export type ExportOptions = {
  readonly path: string;
  /** Cipher of the secrets in the database. */
  readonly cipher: SecretCipher;
  readonly isEncrypted: boolean;
};

/** Yields the lines of the hand-over. The snapshot ends with the last one, or when the caller ends the iteration. */
export function* readWebhookLines({ path, cipher, isEncrypted }: ExportOptions): Iterable<HandOverLine> {
  const database = openDatabase(path, { readonly: true });
  try {
    database.execute("BEGIN");
    yield { webhooks: headOf(database, isEncrypted) };
    let count = 0;
    for (const table of TABLE_NAMES) {
      for (const rows of partsOf(rowsOf(database, table, cipher))) {
        count += rows.length;
        yield { table, rows };
      }
    }
    yield { end: count };
  } finally {
    database.close();
  }
}

function headOf(database: Database, isEncrypted: boolean) {
  const last = database.prepare<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = +?");
  const lastOf = (table: string) => last.get(table)?.seq ?? 0;
  const meta = createMetaStore(database);
  return {
    format: FORMAT,
    network: meta.read("nethash") ?? "",
    matched: createEventLog(database, { recordedNames: () => new Set() }).cursor(READER) ?? 0,
    isEncrypted,
    epoch: Number(meta.read("webhookEpoch") ?? 0),
    last: {
      webhook: lastOf("webhooks"),
      delivery: lastOf("deliveries"),
      content: lastOf("contents"),
    },
  } as const;
}

function* rowsOf(database: Database, table: TableName, cipher: SecretCipher): Iterable<HandOverRow> {
  const select = database.prepare<Record<string, SqlValue>>(
    `SELECT ${namesOf(TABLES[table])} FROM ${table} ORDER BY ${orderOf(table, "attempt")}`,
  );
  for (const row of select.iterate()) yield toHandOver(TABLES[table], row, cipher);
}
