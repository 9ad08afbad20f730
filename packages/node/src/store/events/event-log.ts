/**
 * The event log: ordered events, and a cursor for each reader. Events of a block are written in the transaction of the
 * block, so that a row exists if and only if its block was committed (or reverted).
 */
import type { Event, LoggedEvent } from "../../events/catalogue.ts";
import { withoutNulls } from "../../platform/without-nulls.ts";
import type { Database } from "../engine/database.ts";

/** Bounds of the log. Rows that a cursor has not passed stay in the log even beyond the bounds. */
export type Retention = {
  readonly maxEvents: number;
  readonly maxAgeMs: number;
};

export type EventLog = {
  /** Returns true if events of this name are currently recorded. */
  isRecorded(name: string): boolean;
  /** Writes the subscribed events inside the caller's transaction. */
  append(events: readonly Event[]): void;
  /** Events after a sequence, in order. */
  read(after: number, limit: number): LoggedEvent[];
  /** Sequence of the oldest event in the log; undefined if the log is empty. */
  firstSequence(): number | undefined;
  /** Returns true if an event after a sequence retracts another one. */
  hasRetractionAfter(sequence: number): boolean;
  /** Sequence of the newest event ever written; 0 before the first. */
  lastSequence(): number;
  /** Last sequence that the reader has handled, if any. */
  cursor(reader: string): number | undefined;
  moveCursor(reader: string, sequence: number): void;
  /** Removes the cursor of a reader, so that it no longer keeps events from being dropped. */
  removeCursor(reader: string): void;
  /** Drops some of the oldest events beyond the bounds; returns `true` if more may remain. */
  prune(retention: Retention): boolean;
};

export type EventLogOptions = {
  /** Names of the events to record; called for each event. */
  readonly recordedNames: () => ReadonlySet<string>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
};

/** Rows dropped in one transaction: a few milliseconds of write lock. */
const PRUNED_AT_ONCE = 5_000;

type EventRow = {
  sequence: number;
  id: string;
  name: string;
  height: number | null;
  block_id: string | null;
  created_ms: number;
  time_ms: number | null;
  reverts: string | null;
  data: string | null;
};

/** Reads the sequence of the newest event ever written; 0 before the first. */
export function createLastSequence(database: Database): () => number {
  // All rows may have been pruned; SQLite's own counter still has the sequence.
  const last = database.prepare<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'events'");
  return () => last.get()?.seq ?? 0;
}

export function createEventLog(
  database: Database,
  { recordedNames, now = Date.now }: EventLogOptions,
): EventLog {
  const insert = database.prepare(
    `INSERT INTO events (id, name, height, block_id, created_ms, time_ms, reverts, data)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const select = database.prepare<EventRow>(
    "SELECT * FROM events WHERE sequence > ? ORDER BY sequence LIMIT +?",
  );
  const first = database.prepare<{ sequence: number }>(
    "SELECT sequence FROM events ORDER BY sequence LIMIT 1",
  );
  const retraction = database.prepare(
    "SELECT 1 FROM events WHERE sequence > ? AND reverts IS NOT NULL LIMIT 1",
  );
  return {
    isRecorded: (name) => recordedNames().has(name),
    append(events) {
      const names = recordedNames();
      for (const { id, name, height, blockId, timeMs, reverts, data } of events) {
        if (!names.has(name)) continue;
        const source = [height ?? null, blockId ?? null, now(), timeMs ?? null];
        insert.run(id, name, ...source, reverts ?? null, data === undefined ? null : JSON.stringify(data));
      }
    },
    read: (after, limit) => select.all(after, limit).map(eventFromRow),
    firstSequence: () => first.get()?.sequence,
    hasRetractionAfter: (sequence) => retraction.get(sequence) !== undefined,
    lastSequence: createLastSequence(database),
    ...createCursors(database),
    prune: createPrune(database, now),
  };
}

function createCursors(database: Database): Pick<EventLog, "cursor" | "moveCursor" | "removeCursor"> {
  const select = database.prepare<{ sequence: number }>("SELECT sequence FROM cursors WHERE reader = ?");
  const write = database.prepare("INSERT OR REPLACE INTO cursors VALUES (?, ?)");
  const remove = database.prepare("DELETE FROM cursors WHERE reader = ?");
  return {
    cursor: (reader) => select.get(reader)?.sequence,
    moveCursor: (reader, sequence) => void write.run(reader, sequence),
    removeCursor: (reader) => void remove.run(reader),
  };
}

function createPrune(database: Database, now: () => number): EventLog["prune"] {
  const lastSequence = createLastSequence(database);
  const slowest = database.prepare<{ sequence: number | null }>(
    "SELECT min(sequence) AS sequence FROM cursors",
  );
  const oldest = database.prepare<{ sequence: number; created_ms: number }>(
    "SELECT sequence, created_ms FROM events ORDER BY sequence LIMIT +?",
  );
  const removeUpTo = database.prepare("DELETE FROM events WHERE sequence <= ?");
  return ({ maxEvents, maxAgeMs }) =>
    database.transaction(() => {
      const passed = slowest.get()?.sequence ?? Number.POSITIVE_INFINITY;
      const surplus = lastSequence() - maxEvents;
      const createdBefore = now() - maxAgeMs;
      const rows = oldest.all(PRUNED_AT_ONCE);
      const kept = rows.findIndex(
        ({ sequence, created_ms }) =>
          sequence > passed || (sequence > surplus && created_ms >= createdBefore),
      );
      const dropped = rows.at(kept === -1 ? -1 : kept - 1);
      if (kept === 0 || !dropped) return false;
      removeUpTo.run(dropped.sequence);
      return kept === -1 && rows.length === PRUNED_AT_ONCE;
    });
}

const eventFromRow = ({ sequence, id, name, data, ...row }: EventRow): LoggedEvent => ({
  ...withoutNulls({
    sequence,
    id,
    name,
    height: row.height,
    blockId: row.block_id,
    reverts: row.reverts,
    createdMs: row.created_ms,
    timeMs: row.time_ms,
  }),
  // The content of an event may be null.
  ...(data !== null && { data: JSON.parse(data) }),
});
