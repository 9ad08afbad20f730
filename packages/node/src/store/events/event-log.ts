/**
 * The event log: ordered events, and a cursor for each reader. Events of a block are written in the transaction of the
 * block, so that a row exists if and only if its block was committed (or reverted).
 */
import type { Event, LoggedEvent } from "../../events/catalogue.ts";
import { present } from "../../platform/present.ts";
import { withoutNulls } from "../../platform/without-nulls.ts";
import type { Database } from "../engine/database.ts";

/** Bounds of the log. Rows that a cursor has not passed stay in the log even beyond the bounds. */
export type Retention = {
  readonly maxEvents: number;
  /** Size of the contents of all events but the oldest one. */
  readonly maxBytes: number;
  readonly maxAgeMs: number;
};

type EventLogOptions = {
  /** Names of the events to record; called for each event. */
  readonly recordedNames: () => ReadonlySet<string>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Time by which the retention measures the age of events, milliseconds since 1970; by default `now`. */
  readonly retentionNow?: () => number;
};

/** Rows and bytes of contents dropped in one transaction: a few milliseconds of write lock. */
const PRUNED_AT_ONCE = 5_000;
const BYTES_PRUNED_AT_ONCE = 8 * 1024 * 1024;

/** The columns of a row, also of the copy in the database of a mirror. */
export const EVENT_COLUMNS = `sequence, id, name, height, block_id AS "blockId", reverts, created_ms AS "createdMs", time_ms AS "timeMs", data`;

export type EventRow = {
  readonly sequence: number;
  readonly id: string;
  readonly name: string;
  readonly height: number | null;
  readonly blockId: string | null;
  readonly reverts: string | null;
  readonly createdMs: number;
  readonly timeMs: number | null;
  readonly data: string | null;
};

export const eventFromRow = ({ data, ...row }: EventRow): LoggedEvent => ({
  ...withoutNulls(row),
  // The content of an event may be null.
  ...(data !== null && { data: JSON.parse(data) }),
});

/** Reads the sequence of the newest event ever written; 0 before the first. */
export function createLastSequence(database: Database): () => number {
  // All rows may have been pruned; SQLite's own counter still has the sequence.
  const last = database.prepare<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'events'");
  return () => last.get()?.seq ?? 0;
}

export class EventLog {
  readonly #database: Database;
  readonly #recordedNames: () => ReadonlySet<string>;
  readonly #now: () => number;
  readonly #retentionNow: () => number;
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #lastSequence: () => number;

  constructor(database: Database, { recordedNames, now = Date.now, retentionNow = now }: EventLogOptions) {
    this.#database = database;
    this.#recordedNames = recordedNames;
    this.#now = now;
    this.#retentionNow = retentionNow;
    this.#statements = prepareStatements(database);
    this.#lastSequence = createLastSequence(database);
  }

  /** Returns true if events of this name are currently recorded. */
  isRecorded(name: string): boolean {
    return this.#recordedNames().has(name);
  }

  /** Writes the subscribed events inside the caller's transaction. */
  append(events: readonly Event[]): void {
    const names = this.#recordedNames();
    const { insert } = this.#statements;
    for (const { id, name, height, blockId, timeMs, reverts, data } of events) {
      if (!names.has(name)) continue;
      const source = [height ?? null, blockId ?? null, this.#now(), timeMs ?? null];
      const content = data === undefined ? null : JSON.stringify(data);
      const bytes = content === null ? 0 : Buffer.byteLength(content);
      insert.run(id, name, ...source, reverts ?? null, content, bytes);
    }
  }

  /** Events after a sequence, in order. */
  read(after: number, limit: number): LoggedEvent[] {
    return this.#statements.select.all(after, limit).map(eventFromRow);
  }

  /** Sequence of the oldest event in the log; undefined if the log is empty. */
  firstSequence(): number | undefined {
    return this.#statements.first.get()?.sequence;
  }

  /** Returns true if an event after a sequence retracts another one. */
  hasRetractionAfter(sequence: number): boolean {
    return this.#statements.retraction.get(sequence) !== undefined;
  }

  /** Sequence of the newest event ever written; 0 before the first. */
  lastSequence(): number {
    return this.#lastSequence();
  }

  /** Last sequence that the reader has handled, if any. */
  cursor(reader: string): number | undefined {
    return this.#statements.selectCursor.get(reader)?.sequence;
  }

  moveCursor(reader: string, sequence: number): void {
    this.#statements.writeCursor.run(reader, sequence);
  }

  /** Removes the cursor of a reader, so that it no longer keeps events from being dropped. */
  removeCursor(reader: string): void {
    this.#statements.removeCursor.run(reader);
  }

  /** Drops some of the oldest events beyond the bounds; returns `true` if more may remain. */
  prune({ maxEvents, maxBytes, maxAgeMs }: Retention): boolean {
    const { slowest, oldest, newest, removeUpTo } = this.#statements;
    return this.#database.transaction(() => {
      const passed = slowest.get()?.sequence ?? Number.POSITIVE_INFINITY;
      const surplus = this.#lastSequence() - maxEvents;
      const surplusBytes = (newest.get()?.total_bytes ?? 0) - maxBytes;
      const createdBefore = this.#retentionNow() - maxAgeMs;
      const dropped: OldestRow[] = [];
      let isFull = false;
      for (const row of oldest.iterate(PRUNED_AT_ONCE)) {
        const isWithin =
          row.sequence > surplus && row.total_bytes > surplusBytes && row.created_ms >= createdBefore;
        if (row.sequence > passed || isWithin) break;
        dropped.push(row);
        const bytes = row.total_bytes - present(dropped[0]).total_bytes;
        isFull = dropped.length === PRUNED_AT_ONCE || bytes >= BYTES_PRUNED_AT_ONCE;
        if (isFull) break;
      }
      const last = dropped.at(-1);
      if (last) removeUpTo.run(last.sequence);
      return isFull;
    });
  }
}

type OldestRow = { readonly sequence: number; readonly created_ms: number; readonly total_bytes: number };

const prepareStatements = (database: Database) => ({
  insert: database.prepare(
    `INSERT INTO events (id, name, height, block_id, created_ms, time_ms, reverts, data, total_bytes)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?,
       ? + coalesce((SELECT total_bytes FROM events ORDER BY sequence DESC LIMIT 1), 0))`,
  ),
  select: database.prepare<EventRow>(
    `SELECT ${EVENT_COLUMNS} FROM events WHERE sequence > ? ORDER BY sequence LIMIT +?`,
  ),
  first: database.prepare<{ sequence: number }>("SELECT sequence FROM events ORDER BY sequence LIMIT 1"),
  retraction: database.prepare("SELECT 1 FROM events WHERE sequence > ? AND reverts IS NOT NULL LIMIT 1"),
  selectCursor: database.prepare<{ sequence: number }>("SELECT sequence FROM cursors WHERE reader = ?"),
  writeCursor: database.prepare("INSERT OR REPLACE INTO cursors VALUES (?, ?)"),
  removeCursor: database.prepare("DELETE FROM cursors WHERE reader = ?"),
  slowest: database.prepare<{ sequence: number | null }>("SELECT min(sequence) AS sequence FROM cursors"),
  oldest: database.prepare<OldestRow>(
    "SELECT sequence, created_ms, total_bytes FROM events ORDER BY sequence LIMIT +?",
  ),
  newest: database.prepare<{ total_bytes: number }>(
    "SELECT total_bytes FROM events ORDER BY sequence DESC LIMIT 1",
  ),
  removeUpTo: database.prepare("DELETE FROM events WHERE sequence <= ?"),
});
