/** Writes rows of a hand-over into the node's database, in small transactions: consensus shares the database. */
import { present } from "../../../platform/present.ts";
import type { Database, SqlValue } from "../../../store/engine/database.ts";
import type { HandOverHead } from "../../hand-over/lines.ts";
import { type HandOverRow, TABLE_NAMES, TABLES, type TableName } from "../../hand-over/tables.ts";
import type { SecretCipher } from "../../secrets/encryption.ts";
import { ownerOf } from "../../secrets/rows.ts";

export type WebhookImport = {
  /** Writes rows; must be called in the order of the tables. */
  add(table: TableName, rows: readonly HandOverRow[]): void;
  /** Lets numbers continue above the highest ones. Must be called in the transaction that completes the hand-over. */
  setLast(last: HandOverHead["last"]): void;
};

/** @param cipher cipher of the secrets in this database */
export function createWebhookImport(database: Database, cipher: SecretCipher): WebhookImport {
  const inserts = new Map(TABLE_NAMES.map((table) => [table, createInsert(database, table, cipher)]));
  const removeLast = database.prepare("DELETE FROM sqlite_sequence WHERE name = ?");
  const insertLast = database.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)");
  return {
    add(table, rows) {
      const insert = present(inserts.get(table), `the statement for ${table}`);
      database.transaction(() => {
        for (const row of rows) insert(row);
      });
    },
    setLast({ webhook, delivery, content }) {
      const numbers = { webhooks: webhook, deliveries: delivery, contents: content };
      for (const [table, number] of Object.entries(numbers)) {
        removeLast.run(table);
        insertLast.run(table, number);
      }
    },
  };
}

function createInsert(
  database: Database,
  table: TableName,
  cipher: SecretCipher,
): (row: HandOverRow) => void {
  const insert = database.prepare(insertOf(table));
  const { columns } = TABLES[table];
  return (row) => {
    const values = columns.map((column, index): SqlValue => {
      const value = row[index] ?? null;
      if (typeof value === "boolean") return Number(value);
      // The first column of webhooks is the id.
      return column.type === "secret" && value !== null
        ? cipher.encrypt(String(value), ownerOf(Number(row[0])))
        : value;
    });
    insert.run(...values);
  };
}

function insertOf(table: TableName): string {
  const names = TABLES[table].columns.map(({ name }) => name);
  const insert = `INSERT INTO ${table}`;
  if (table === "attempts") {
    const given = names.map((name) => `? AS ${name}`);
    return `${insert} (attempt, ${names.join(", ")})
      SELECT (SELECT coalesce(max(attempt), 0) + 1 FROM attempts WHERE delivery = new.delivery), new.*
      FROM (SELECT ${given.join(", ")}) AS new`;
  }
  const values = `(${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`;
  // A trigger has inserted the row with its webhook.
  const update = " ON CONFLICT (webhook) DO UPDATE SET last_sequence = excluded.last_sequence";
  return `${insert} ${values}${table === "queues" ? update : ""}`;
}
