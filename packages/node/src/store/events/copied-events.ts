/** Events that a mirror copies into another database: the log keeps them until then, while it has this cursor. */
import type { Database } from "../engine/database.ts";
import { createLastSequence } from "./event-log.ts";

/** Name of the cursor of the mirror. */
export const COPY_READER = "workers";

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
