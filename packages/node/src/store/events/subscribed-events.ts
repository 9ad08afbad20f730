/** Names of events that the log records for live streams and for webhooks of another database, and what of these a mirror has copied. */
import type { Database, Statement } from "../engine/database.ts";
import { createLastSequence } from "./event-log.ts";

/** Names for live streams, each with the sequence after which the log is complete for it. */
export class SubscribedEventStore {
  readonly #all: Statement<{ name: string; since: number }>;
  readonly #set: Statement<unknown>;
  readonly #remove: Statement<unknown>;

  constructor(database: Database) {
    this.#all = database.prepare("SELECT name, since FROM subscribed_events");
    this.#set = database.prepare("INSERT OR REPLACE INTO subscribed_events VALUES (?, ?)");
    this.#remove = database.prepare("DELETE FROM subscribed_events WHERE name = ?");
  }

  all(): Map<string, number> {
    return new Map(this.#all.all().map(({ name, since }) => [name, since]));
  }

  set(name: string, since: number): void {
    this.#set.run(name, since);
  }

  remove(name: string): void {
    this.#remove.run(name);
  }
}

/**
 * Names for webhooks of another database. While there are any, the log keeps the events that the mirror has not copied into
 * that database.
 */
export class RemoteNameStore {
  readonly #database: Database;
  readonly #copiedEvents: Pick<CopiedEvents, "keep" | "forget">;
  readonly #all: Statement<{ name: string }>;
  readonly #removeAll: Statement<unknown>;
  readonly #add: Statement<unknown>;

  constructor(database: Database, copiedEvents: Pick<CopiedEvents, "keep" | "forget">) {
    this.#database = database;
    this.#copiedEvents = copiedEvents;
    this.#all = database.prepare("SELECT name FROM remote_names");
    this.#removeAll = database.prepare("DELETE FROM remote_names");
    this.#add = database.prepare("INSERT INTO remote_names VALUES (?)");
  }

  all(): ReadonlySet<string> {
    return new Set(this.#all.all().map(({ name }) => name));
  }

  replace(names: readonly string[]): void {
    this.#database.transaction(() => {
      this.#removeAll.run();
      for (const name of names) this.#add.run(name);
      if (names.length > 0) this.#copiedEvents.keep();
      else this.#copiedEvents.forget();
    });
  }
}

/** Name of the cursor of the mirror. */
export const COPY_READER = "workers";

/** Events that a mirror copies into another database: the log keeps them until then, while it has this cursor. */
export class CopiedEvents {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #lastSequence: () => number;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareStatements(database);
    this.#lastSequence = createLastSequence(database);
  }

  /** Creates the cursor before the oldest event, if it does not exist. */
  keep(): void {
    this.#statements.create.run(COPY_READER, this.#lastSequence());
  }

  /** Removes the cursor. */
  forget(): void {
    this.#statements.remove.run(COPY_READER);
  }

  /** Moves the cursor forward, if it exists. */
  copiedUpTo(sequence: number): void {
    // A transaction would wait for the disk.
    if ((this.#cursor() ?? sequence) >= sequence) return;
    this.#statements.move.run(sequence, COPY_READER, sequence);
  }

  /** Returns the number of events after the cursor; 0 without a cursor. */
  uncopied(): number {
    const last = this.#lastSequence();
    return last - (this.#cursor() ?? last);
  }

  /** Gives later events higher sequences than this one. Cursors at the end of the log stay there. */
  continueAfter(sequence: number): void {
    const { addRow, raise, moveAll } = this.#statements;
    this.#database.transaction(() => {
      const last = this.#lastSequence();
      if (sequence <= last) return;
      addRow.run();
      raise.run(sequence);
      moveAll.run(sequence, last);
    });
  }

  #cursor(): number | undefined {
    return this.#statements.cursor.get(COPY_READER)?.sequence;
  }
}

const prepareStatements = (database: Database) => ({
  cursor: database.prepare<{ sequence: number }>("SELECT sequence FROM cursors WHERE reader = ?"),
  create: database.prepare(
    "INSERT OR IGNORE INTO cursors SELECT ?, coalesce((SELECT min(sequence) - 1 FROM events), ?)",
  ),
  remove: database.prepare("DELETE FROM cursors WHERE reader = ?"),
  move: database.prepare("UPDATE cursors SET sequence = ? WHERE reader = ? AND sequence < ?"),
  // SQLite has no row before the first event.
  addRow: database.prepare(
    `INSERT INTO sqlite_sequence (name, seq) SELECT 'events', 0
     WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'events')`,
  ),
  raise: database.prepare("UPDATE sqlite_sequence SET seq = ? WHERE name = 'events'"),
  moveAll: database.prepare("UPDATE cursors SET sequence = ? WHERE sequence = ?"),
});
