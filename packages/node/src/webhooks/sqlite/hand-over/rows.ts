/**
 * The node's side of a hand-over in SQLite. It drops and writes some rows at a time, in small transactions, because
 * consensus shares the database; it reads all rows from one snapshot on a separate connection, while writes continue.
 */

import { type Database, openDatabase, type SqlValue } from "../../../store/engine/database.ts";
import { EventLog } from "../../../store/events/event-log.ts";
import { COPY_READER } from "../../../store/events/subscribed-events.ts";
import { MetaStore } from "../../../store/node/meta.ts";
import { FORMAT, type HandOverHead, type HandOverLine, partsOf } from "../../hand-over/lines.ts";
import { HandOverError, nextOwner, type Owner, type OwnerChange } from "../../hand-over/owner.ts";
import type { CopiedEvent, HandOverRows } from "../../hand-over/ports.ts";
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
import type { Sql } from "../../storage/sql.ts";
import { activateWaiting } from "../../storage/webhooks.ts";
import { runNow, sqlOf } from "../sql.ts";
import { OwnerStore } from "./owner.ts";

type HandOverRowsDeps = {
  readonly database: Database;
  readonly databasePath: string;
  readonly eventLog: Pick<
    EventLog,
    "read" | "lastSequence" | "firstSequence" | "cursor" | "moveCursor" | "removeCursor"
  >;
  readonly cipher: SecretCipher;
};

export class SqliteHandOverRows implements HandOverRows {
  readonly isEncrypted: boolean;
  readonly #deps: HandOverRowsDeps;
  readonly #owners: OwnerStore;
  readonly #sql: Sql;

  constructor(deps: HandOverRowsDeps) {
    this.#deps = deps;
    this.isEncrypted = !deps.cipher.isPlain;
    this.#owners = new OwnerStore(deps.database);
    this.#sql = sqlOf(deps.database);
  }

  owner(): Owner {
    return this.#owners.read();
  }

  matched(): number {
    const { eventLog } = this.#deps;
    return eventLog.cursor(READER) ?? eventLog.lastSequence();
  }

  change(change: OwnerChange): Owner {
    const { database, eventLog } = this.#deps;
    return database.transaction(() => {
      const current = this.owner();
      const owner = nextOwner(current, change);
      if (owner === current) return owner;
      this.#owners.write(owner);
      if (owner.state === "workers") eventLog.removeCursor(READER);
      if (owner.state === "to node")
        eventLog.moveCursor(READER, eventLog.cursor(COPY_READER) ?? eventLog.lastSequence());
      return owner;
    });
  }

  complete(): void {
    runNow(activateWaiting(this.#sql, this.#deps.eventLog.lastSequence()));
  }

  lines(): Iterable<HandOverLine> {
    const { databasePath, cipher } = this.#deps;
    return readWebhookLines(databasePath, cipher);
  }

  drop(): boolean {
    return ROOTS.some((table) => runNow(this.#sql.change(dropSql(table))) > 0);
  }

  isEmpty(): boolean {
    return TABLE_NAMES.every((name) => !runNow(this.#sql.row(`SELECT 1 FROM ${name} LIMIT 1`)));
  }

  add(table: TableName, rows: readonly HandOverRow[]): void {
    const { database, cipher } = this.#deps;
    const insert = insertSql(table);
    database.transaction(() => {
      for (const row of rows) runNow(this.#sql.change(insert, toStored(TABLES[table], row, cipher)));
    });
  }

  finish(head: HandOverHead, transfer: string): void {
    const { database, eventLog } = this.#deps;
    database.transaction(() => {
      const meta = new MetaStore(database);
      if (head.network !== meta.read("nethash"))
        throw new HandOverError(
          "OTHER_NODE",
          "the webhooks belong to another chain: name its node with --node",
        );
      checkPosition(eventLog, head.matched);
      this.#owners.write(nextOwner(this.owner(), { from: "to node", to: "node", transfer }));
      this.#setLast(head.last);
      meta.write("webhookEpoch", `${Math.max(head.epoch, Number(meta.read("webhookEpoch") ?? 0))}`);
      eventLog.moveCursor(READER, head.matched);
    });
  }

  /** Lets numbers continue above the highest ones. */
  #setLast({ webhook, delivery, content }: HandOverHead["last"]): void {
    const numbers = { webhooks: webhook, deliveries: delivery, contents: content };
    for (const [table, number] of Object.entries(numbers)) {
      runNow(this.#sql.change("DELETE FROM sqlite_sequence WHERE name = $1", [table]));
      runNow(this.#sql.change("INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)", [table, number]));
    }
  }

  hasEvent({ sequence, id }: CopiedEvent): boolean {
    const { eventLog } = this.#deps;
    if (sequence > eventLog.lastSequence()) return false;
    const [event] = eventLog.read(sequence - 1, 1);
    return id === undefined || event?.sequence !== sequence || event.id === id;
  }
}

function checkPosition(eventLog: HandOverRowsDeps["eventLog"], matched: number): void {
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

function dropSql(table: (typeof ROOTS)[number]): string {
  const key = KEYS[table] ?? "rowid";
  const columns = key.replace(/[()]/g, "");
  return `DELETE FROM ${table} WHERE ${key} IN (SELECT ${columns} FROM ${table} LIMIT ${ROWS_AT_ONCE})`;
}

function insertSql(table: TableName): string {
  const { columns } = TABLES[table];
  const names = namesOf(TABLES[table]);
  const insert = `INSERT INTO ${table}`;
  const parameters = columns.map((_, index) => `$${index + 1}`);
  if (table === "attempts") {
    const given = columns.map(({ name }, index) => `${parameters[index]} AS ${name}`);
    return `${insert} (attempt, ${names})
      SELECT (SELECT coalesce(max(attempt), 0) + 1 FROM attempts WHERE delivery = new.delivery), new.*
      FROM (SELECT ${given.join(", ")}) AS new`;
  }
  // A trigger has inserted the row with its webhook.
  const update = " ON CONFLICT (webhook) DO UPDATE SET last_sequence = excluded.last_sequence";
  return `${insert} (${names}) VALUES (${parameters.join(", ")})${table === "queues" ? update : ""}`;
}

/** Yields the lines of the hand-over. The snapshot ends with the last one, or when the caller ends the iteration. */
function* readWebhookLines(path: string, cipher: SecretCipher): Iterable<HandOverLine> {
  const database = openDatabase(path, { readonly: true });
  try {
    database.execute("BEGIN");
    yield { webhooks: headOf(database, !cipher.isPlain) };
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
