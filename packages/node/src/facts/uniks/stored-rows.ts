/**
 * Rows of the maps of uniks in SQLite. A round can be written in several transactions: until it is complete, readers see the rows that
 * it changes as they were after the round before.
 */
import type { Database } from "../../store/engine/database.ts";
import { bytesOf, type Row, type RowReader, type Rows } from "./rows.ts";

/** Rows with changes in memory. */
export type StepRows = Rows & {
  /** Number of changed rows. */
  size(): number;
  /**
   * Copies the rows to change for readers, inside the caller's transaction.
   *
   * @param height last block of the last complete round
   */
  keep(height: number): void;
  /** Writes the changed rows, inside the caller's transaction; readers see rows that were not kept. */
  write(): void;
};

export type StoredRows = {
  /** Begins changes in memory. */
  begin(): StepRows;
  /** Removes some rows that belong to rounds before `height`; returns whether more may be left. */
  dropBefore(height: number): boolean;
  /** Restores some rows as they were after the round that ended at `height`; returns whether more may be left. */
  restore(height: number): boolean;
  /** Removes some rows; returns whether more may be left. */
  remove(): boolean;
};

/** Rows that one transaction removes or restores. */
const STEP_ROWS = 500;

const keyBytes = (key: string): Buffer => Buffer.from(key, "latin1");

export function createStoredRows(database: Database): StoredRows {
  const get = database.prepare<{ value: Uint8Array }>("SELECT value FROM unik_rows WHERE key = ?");
  // INSERT OR REPLACE would move the row to the end of the table.
  const put = database.prepare(
    "INSERT INTO unik_rows VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
  );
  const remove = database.prepare("DELETE FROM unik_rows WHERE key = ?");
  const keep = database.prepare(
    "INSERT OR IGNORE INTO unik_before SELECT ?, ?, (SELECT value FROM unik_rows WHERE key = ?)",
  );
  function begin(): StepRows {
    const changed = new Map<string, Row | undefined>();
    return {
      read: (key) => (changed.has(key) ? changed.get(key) : get.get(keyBytes(key))?.value),
      change: (key, value) => void changed.set(key, value),
      size: () => changed.size,
      keep(height) {
        for (const text of changed.keys()) {
          const key = keyBytes(text);
          keep.run(height, key, key);
        }
      },
      write() {
        for (const [text, value] of changed) {
          const key = keyBytes(text);
          if (value) put.run(key, bytesOf(value));
          else remove.run(key);
        }
      },
    };
  }

  return { begin, ...createSteps(database) };
}

function createSteps(database: Database): Omit<StoredRows, "begin"> {
  const some = (table: string, condition = "") =>
    database.prepare(
      `DELETE FROM ${table} WHERE (height, key) IN (SELECT height, key FROM ${table} ${condition} LIMIT ${STEP_ROWS})`,
    );
  const older = some("unik_before", "WHERE height < ?");
  const anyBefore = some("unik_before");
  const any = database.prepare(
    `DELETE FROM unik_rows WHERE key IN (SELECT key FROM unik_rows LIMIT ${STEP_ROWS})`,
  );
  const kept = `FROM unik_before WHERE height = ? ORDER BY key LIMIT ${STEP_ROWS}`;
  const statements = [
    `DELETE FROM unik_rows WHERE key IN (SELECT key ${kept})`,
    `INSERT INTO unik_rows SELECT key, value FROM (SELECT key, value ${kept}) WHERE value IS NOT NULL`,
    `DELETE FROM unik_before WHERE (height, key) IN (SELECT height, key ${kept})`,
  ].map((sql) => database.prepare(sql));
  return {
    dropBefore: (height) => older.run(height).changes === STEP_ROWS,
    restore: (height) => statements.map((statement) => statement.run(height).changes).at(-1) === STEP_ROWS,
    remove: () => any.run().changes + anyBefore.run().changes > 0,
  };
}

/**
 * Returns a function that reads the rows as they were after a round.
 *
 * @returns given `height`, the last block of the last complete round
 */
export function createRowReaders(database: Database): (height: number) => RowReader {
  const get = database.prepare<{ value: Uint8Array }>("SELECT value FROM unik_rows WHERE key = ?");
  const before = database.prepare<{ value: Uint8Array | null }>(
    "SELECT value FROM unik_before WHERE height = ? AND key = ?",
  );
  return (height) => ({
    read(key) {
      const bytes = keyBytes(key);
      const kept = before.get(height, bytes);
      return kept ? (kept.value ?? undefined) : get.get(bytes)?.value;
    },
  });
}
