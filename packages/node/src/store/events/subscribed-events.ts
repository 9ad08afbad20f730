/** Names of events that the log records for live streams and for webhooks of another database, and what of these a mirror has copied. */
import type { Database } from "../engine/database.ts";
import { createLastSequence } from "./event-log.ts";

/** Names for live streams, each with the sequence after which the log is complete for it. */
export type SubscribedEventStore = {
  all(): Map<string, number>;
  set(name: string, since: number): void;
  remove(name: string): void;
};

export function createSubscribedEventStore(database: Database): SubscribedEventStore {
  const all = database.prepare<{ name: string; since: number }>("SELECT name, since FROM subscribed_events");
  const set = database.prepare("INSERT OR REPLACE INTO subscribed_events VALUES (?, ?)");
  const remove = database.prepare("DELETE FROM subscribed_events WHERE name = ?");
  return {
    all: () => new Map(all.all().map(({ name, since }) => [name, since])),
    set: (name, since) => void set.run(name, since),
    remove: (name) => void remove.run(name),
  };
}

/**
 * Names for webhooks of another database. While there are any, the log keeps the events that the mirror has not copied into
 * that database.
 */
export type RemoteNameStore = {
  all(): ReadonlySet<string>;
  replace(names: readonly string[]): void;
};

export function createRemoteNameStore(
  database: Database,
  copiedEvents: Pick<CopiedEvents, "keep" | "forget">,
): RemoteNameStore {
  const all = database.prepare<{ name: string }>("SELECT name FROM remote_names");
  const removeAll = database.prepare("DELETE FROM remote_names");
  const add = database.prepare("INSERT INTO remote_names VALUES (?)");
  return {
    all: () => new Set(all.all().map(({ name }) => name)),
    replace(names) {
      database.transaction(() => {
        removeAll.run();
        for (const name of names) add.run(name);
        if (names.length > 0) copiedEvents.keep();
        else copiedEvents.forget();
      });
    },
  };
}

/** Name of the cursor of the mirror. */
export const COPY_READER = "workers";

/** Events that a mirror copies into another database: the log keeps them until then, while it has this cursor. */
export type CopiedEvents = {
  /** Creates the cursor before the oldest event, if it does not exist. */
  keep(): void;
  /** Removes the cursor. */
  forget(): void;
  /** Moves the cursor forward, if it exists. */
  copiedUpTo(sequence: number): void;
  /** Returns the number of events after the cursor; 0 without a cursor. */
  uncopied(): number;
  /** Gives later events higher sequences than this one. Cursors at the end of the log stay there. */
  continueAfter(sequence: number): void;
};

export function createCopiedEvents(database: Database): CopiedEvents {
  const lastSequence = createLastSequence(database);
  const cursor = database.prepare<{ sequence: number }>("SELECT sequence FROM cursors WHERE reader = ?");
  const create = database.prepare(
    "INSERT OR IGNORE INTO cursors SELECT ?, coalesce((SELECT min(sequence) - 1 FROM events), ?)",
  );
  const remove = database.prepare("DELETE FROM cursors WHERE reader = ?");
  const move = database.prepare("UPDATE cursors SET sequence = ? WHERE reader = ? AND sequence < ?");
  // SQLite has no row before the first event.
  const addRow = database.prepare(
    `INSERT INTO sqlite_sequence (name, seq) SELECT 'events', 0
     WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'events')`,
  );
  const raise = database.prepare("UPDATE sqlite_sequence SET seq = ? WHERE name = 'events'");
  const moveAll = database.prepare("UPDATE cursors SET sequence = ? WHERE sequence = ?");
  return {
    keep: () => void create.run(COPY_READER, lastSequence()),
    forget: () => void remove.run(COPY_READER),
    copiedUpTo(sequence) {
      // A transaction would wait for the disk.
      if ((cursor.get(COPY_READER)?.sequence ?? sequence) >= sequence) return;
      move.run(sequence, COPY_READER, sequence);
    },
    uncopied: () => {
      const last = lastSequence();
      return last - (cursor.get(COPY_READER)?.sequence ?? last);
    },
    continueAfter(sequence) {
      database.transaction(() => {
        const last = lastSequence();
        if (sequence <= last) return;
        addRow.run();
        raise.run(sequence);
        moveAll.run(sequence, last);
      });
    },
  };
}
