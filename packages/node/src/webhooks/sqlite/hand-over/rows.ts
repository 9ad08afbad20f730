/**
 * The node's side of a hand-over in SQLite. It drops and writes some rows at a time, in small transactions, because
 * consensus shares the database; it reads all rows from one snapshot on a separate connection, while writes continue.
 */

import { present } from "../../../platform/present.ts";
import { type Database, openDatabase, type SqlValue } from "../../../store/engine/database.ts";
import { EventLog } from "../../../store/events/event-log.ts";
import { COPY_READER } from "../../../store/events/subscribed-events.ts";
import { MetaStore } from "../../../store/node/meta.ts";
import { FORMAT, type HandOverHead, type HandOverLine, partsOf } from "../../hand-over/lines.ts";
import { HandOverError, nextOwner, type OwnerChange } from "../../hand-over/owner.ts";
import type { HandOverRows } from "../../hand-over/ports.ts";
import {
  type HandOverRow,
  namesOf,
  orderOf,
  TABLE_NAMES,
  TABLES,
  type TableName,
  toHandOver,
  toStored,
} from "../../hand-over/tables.ts";
import { READER } from "../../intake.ts";
import type { SecretCipher } from "../../secrets.ts";
import { activateWaiting } from "../../storage/webhooks.ts";
import { runNow, sqlOf } from "../sql.ts";
import { createOwnerStore, type OwnerStore } from "./owner.ts";

type HandOverRowsDeps = {
  /** The connection of the webhook service. */
  readonly database: Database;
  readonly databasePath: string;
  readonly eventLog: Pick<
    EventLog,
    "read" | "lastSequence" | "firstSequence" | "cursor" | "moveCursor" | "removeCursor"
  >;
  /** Cipher of the secrets in the database. */
  readonly cipher: SecretCipher;
  readonly isEncrypted: boolean;
};

export function createSqliteHandOverRows(deps: HandOverRowsDeps): HandOverRows {
  const { database, databasePath, eventLog, cipher, isEncrypted } = deps;
  const owners = createOwnerStore(database);
  const imported = createWebhookImport(database, cipher);
  return {
    isEncrypted,
    owner: owners.read,
    matched: () => eventLog.cursor(READER) ?? eventLog.lastSequence(),
    change: (change) => database.transaction(() => changeOwner(deps, owners, change)),
    complete: () => runNow(activateWaiting(sqlOf(database), eventLog.lastSequence())),
    lines: () => readWebhookLines({ path: databasePath, cipher, isEncrypted }),
    ...createDropRows(database),
    add: imported.add,
    finish(head, transfer) {
      database.transaction(() => {
        checkPosition(deps, head);
        owners.write(nextOwner(owners.read(), { from: "to node", to: "node", transfer }));
        imported.setLast(head.last);
        const meta = new MetaStore(database);
        meta.write("webhookEpoch", `${Math.max(head.epoch, Number(meta.read("webhookEpoch") ?? 0))}`);
        eventLog.moveCursor(READER, head.matched);
      });
    },
    hasEvent({ sequence, id }) {
      if (sequence > eventLog.lastSequence()) return false;
      const [event] = eventLog.read(sequence - 1, 1);
      return id === undefined || event?.sequence !== sequence || event.id === id;
    },
  };
}

function changeOwner({ eventLog }: HandOverRowsDeps, owners: OwnerStore, change: OwnerChange) {
  const current = owners.read();
  const owner = nextOwner(current, change);
  if (owner === current) return owner;
  owners.write(owner);
  if (owner.state === "workers") eventLog.removeCursor(READER);
  if (owner.state === "to node")
    eventLog.moveCursor(READER, eventLog.cursor(COPY_READER) ?? eventLog.lastSequence());
  return owner;
}

function checkPosition({ database, eventLog }: HandOverRowsDeps, { network, matched }: HandOverHead): void {
  if (network !== new MetaStore(database).read("nethash"))
    throw new HandOverError("OTHER_NODE", "the webhooks belong to another chain: name its node with --node");
  const last = eventLog.lastSequence();
  const first = eventLog.firstSequence() ?? last + 1;
  if (matched <= last && matched >= first - 1) return;
  throw new HandOverError(
    "EVENTS_MISSING",
    `the log of the node has the events ${first} to ${last}, and not all after ${matched}: check that the mirror of the database follows this node`,
  );
}

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

function createDropRows(database: Database): Pick<HandOverRows, "drop" | "isEmpty"> {
  const drops = ROOTS.map((table) => {
    const key = KEYS[table] ?? "rowid";
    const columns = key.replace(/[()]/g, "");
    return database.prepare(
      `DELETE FROM ${table} WHERE ${key} IN (SELECT ${columns} FROM ${table} LIMIT ${ROWS_AT_ONCE})`,
    );
  });
  const any = TABLE_NAMES.map((name) => database.prepare(`SELECT 1 FROM ${name} LIMIT 1`));
  return {
    drop: () => drops.some((drop) => drop.run().changes > 0),
    isEmpty: () => any.every((select) => select.get() === undefined),
  };
}

type WebhookImport = Pick<HandOverRows, "add"> & {
  /** Lets numbers continue above the highest ones. Must be called in the transaction that completes the hand-over. */
  setLast(last: HandOverHead["last"]): void;
};

/** @param cipher cipher of the secrets in this database */
function createWebhookImport(database: Database, cipher: SecretCipher): WebhookImport {
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
  return (row) => {
    const values = toStored(TABLES[table], row, cipher);
    insert.run(...values.map((value) => (typeof value === "boolean" ? Number(value) : value)));
  };
}

function insertOf(table: TableName): string {
  const { columns } = TABLES[table];
  const names = namesOf(TABLES[table]);
  const insert = `INSERT INTO ${table}`;
  if (table === "attempts") {
    const given = columns.map(({ name }) => `? AS ${name}`);
    return `${insert} (attempt, ${names})
      SELECT (SELECT coalesce(max(attempt), 0) + 1 FROM attempts WHERE delivery = new.delivery), new.*
      FROM (SELECT ${given.join(", ")}) AS new`;
  }
  const values = `(${names}) VALUES (${columns.map(() => "?").join(", ")})`;
  // A trigger has inserted the row with its webhook.
  const update = " ON CONFLICT (webhook) DO UPDATE SET last_sequence = excluded.last_sequence";
  return `${insert} ${values}${table === "queues" ? update : ""}`;
}

type ExportOptions = {
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
  const meta = new MetaStore(database);
  return {
    format: FORMAT,
    network: meta.read("nethash") ?? "",
    matched: new EventLog(database, { recordedNames: () => new Set() }).cursor(READER) ?? 0,
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
