/**
 * Ids of blocks and transactions as the database stores them: an id of 64 digits as its bytes, a partial id of a block as its decimal
 * text. Their indexes have only prefixes, which several ids may share: each lookup also compares the whole id.
 *
 * The indexes lead from the first bytes of an id to the rows that may have it. Ids are random: in one large index, nearly every entry
 * would change a page of its own, which must be read and written. The entries are therefore in three levels, as in a log-structured
 * merge tree. New ones are inserted into level 0, which fits into the page cache. After every 1,000 entries, one range of prefixes moves
 * from level 1 to level 2, and another one from level 0 to level 1: each changed page gets several entries. The number of entries alone
 * determines the ranges: there is nothing to remember or to repair.
 */

import { hexToBytes } from "@uniknode/protocol";
import type { Database, SqlValue, Statement } from "../engine/database.ts";

const HEX = /^[0-9a-f]{0,64}$/;
/** Sorts after every digit. */
const LAST = "{";

/** Returns false for upper-case digits. Texts that are not hexadecimal have no bytes in SQL. */
const isFull = (id: string): boolean => id.length === 64 && id === id.toLowerCase();

export const toStoredId = (id: string): string | Uint8Array => (isFull(id) ? hexToBytes(id) : id);

/** Returns the bytes of a full id; undefined for a partial id, which the index of full ids does not have. */
export const fullIdOf = (stored: string | Uint8Array): Uint8Array | undefined =>
  typeof stored === "string" ? undefined : stored;

/** SQL of the index entries whose prefix an expression returns. */
const entriesOf = ({ table }: IdIndex, prefix: string): string =>
  `${ALL_LEVELS} CROSS JOIN ${table} ON level = column1 AND prefix = ${prefix}`;

/** SQL of the prefix of the full id that an expression contains. `unhex` costs less than bytes that are created outside of SQL. */
const prefixOf = (id: string): string => `unhex(substr(${id}, 1, ${PREFIX_DIGITS}))`;

/** Returns the condition of a row that no lookup by its full id finds. A superfluous entry is harmless: it finds no row. */
export function isNotIndexed(index: IdIndex): string {
  const { table, rows, key } = index;
  const isSame = key.map((column) => `${table}.${column} = ${rows}.${column}`).join(" AND ");
  const entry = `SELECT 1 FROM ${entriesOf(index, `substr(${rows}.id, 1, ${PREFIX_LENGTH})`)} WHERE ${isSame}`;
  return `(typeof(id) = 'blob' AND NOT EXISTS (${entry}))`;
}

const HAS_PARTIAL_ID = "typeof(id) = 'text' AND id = +?";

/** Returns the condition that a row has an id, and its values; undefined if no row can have it. */
export function hasId(
  index: IdIndex,
  id: string,
): { readonly sql: string; readonly values: readonly SqlValue[] } | undefined {
  const { key, rows, hasPartialIds } = index;
  if (!isFull(id)) return hasPartialIds ? { sql: HAS_PARTIAL_ID, values: [id] } : undefined;
  const columns = key.join();
  return {
    sql: `(${columns}) IN (SELECT ${columns} FROM ${entriesOf(index, prefixOf("+?"))}) AND ${rows}.id = unhex(+?)`,
    values: [id, id],
  };
}

/**
 * Prepares a statement that finds the row of an id.
 *
 * @param joins other tables of the columns
 */
export function prepareById<Row>(
  database: Database,
  index: IdIndex,
  columns: string,
  joins = "",
): (id: string) => Row | undefined {
  const { rows, key, hasPartialIds } = index;
  const full = database.prepare<Row>(
    `SELECT ${columns} FROM ${entriesOf(index, prefixOf("+?"))} CROSS JOIN ${rows} USING (${key.join()}) ${joins}
     WHERE ${rows}.id = unhex(+?)`,
  );
  const partial = hasPartialIds
    ? database.prepare<Row>(`SELECT ${columns} FROM ${rows} ${joins} WHERE ${HAS_PARTIAL_ID}`)
    : undefined;
  return (id) => (isFull(id) ? full.get(id, id) : partial?.get(id));
}

/**
 * Prepares a statement that finds the rows whose ids begin with a text, in the order of their ids.
 *
 * @param limit maximum number of rows
 */
export function prepareByBeginning<Row>(
  database: Database,
  index: IdIndex,
  columns: string,
  limit: number,
): (text: string) => Row[] {
  const { table, rows, key, hasPartialIds } = index;
  const inLevel = LEVELS.map(
    (level) => `SELECT prefix FROM ${table} WHERE level = ${level} AND prefix BETWEEN +? AND +?`,
  );
  // The lowest prefixes of each level, in their order; then all rows with one of them, because ids may share a prefix.
  const full = database.prepare<Row>(
    `SELECT ${columns} FROM ${table} CROSS JOIN ${rows} USING (${key.join()})
     WHERE ${IN_ALL_LEVELS} AND id_text BETWEEN +? AND +? AND prefix BETWEEN +? AND (
       SELECT max(prefix) FROM (${inLevel.join(" UNION ALL ")} ORDER BY prefix LIMIT ${limit}))
     ORDER BY id LIMIT ${limit}`,
  );
  const partial = database.prepare<Row>(
    `SELECT ${columns} FROM ${rows} WHERE typeof(id) = 'text' AND id BETWEEN +? AND +? ORDER BY id LIMIT ${limit}`,
  );
  return (text) => {
    const texts = [text, text + LAST];
    return [
      ...(HEX.test(text) ? full.all(...texts, ...prefixesOf(text)) : []),
      ...(hasPartialIds ? partial.all(...texts) : []),
    ];
  };
}

/** Returns the lowest prefix of ids that begin with a text, then the lowest and the highest one for each level. */
function prefixesOf(text: string): Uint8Array[] {
  const prefixWith = (digit: string) => hexToBytes(text.slice(0, PREFIX_DIGITS).padEnd(PREFIX_DIGITS, digit));
  const [low, high] = [prefixWith("0"), prefixWith("f")];
  return [low, ...LEVELS.flatMap(() => [low, high])];
}

/** An index, and the rows that it finds. */
export type IdIndex = {
  readonly table: "block_ids" | "transaction_ids";
  readonly rows: "blocks" | "transactions";
  /** Columns that are the key of a row. */
  readonly key: readonly ("height" | "sequence")[];
  /** True if rows can have partial ids, which another index has. */
  readonly hasPartialIds: boolean;
};

export const BLOCK_IDS: IdIndex = {
  table: "block_ids",
  rows: "blocks",
  key: ["height"],
  hasPartialIds: true,
};
export const TRANSACTION_IDS: IdIndex = {
  table: "transaction_ids",
  rows: "transactions",
  key: ["height", "sequence"],
  hasPartialIds: false,
};

/** Bytes of an id in an index. */
export const PREFIX_LENGTH = 6;
/** Digits of the indexed prefix. */
const PREFIX_DIGITS = 2 * PREFIX_LENGTH;
export const LEVELS = [0, 1, 2] as const;
/** SQL that matches all levels. The list lets SQLite look up the prefix in each level. */
export const IN_ALL_LEVELS = `level IN (${LEVELS.join()})`;
/**
 * SQL of a table with the levels, whose `column1` a lookup joins to `level`: the highest one first, which has nearly all entries. The
 * list above takes 1.6 times as long for one id, because SQLite fills a temporary table with it for each lookup.
 */
export const ALL_LEVELS = `(VALUES ${LEVELS.map((level) => `(${level})`)
  .toReversed()
  .join()}) AS levels`;
const LAST_LEVEL = 2;

/** Entries between two moves: about as many move from each level. */
const STEP_ENTRIES = 1_000;
/** Number of ranges of the levels 0 and 1, which have at most 32,000 and 1,024,000 entries, give or take a step. */
const RANGES = [32, 1_024] as const;

/** Each method must be called in the transaction that changes the rows. */
export class IdLevels {
  readonly #insert: Statement<unknown>;
  readonly #copy: Statement<unknown>;
  readonly #remove: Statement<unknown>;
  readonly #removeFrom: Statement<unknown>;
  readonly #removeAll: Statement<unknown>;

  constructor(database: Database, { table, rows, key }: IdIndex) {
    const columns = `prefix, ${key.join()}`;
    const inRange = "level = +? AND prefix >= +? AND prefix < +?";
    // An equal entry may exist, because ids can share a prefix and a key.
    this.#insert = database.prepare(
      `INSERT OR IGNORE INTO ${table} VALUES (0, ?, ${key.map(() => "?").join()})`,
    );
    this.#copy = database.prepare(
      `INSERT OR IGNORE INTO ${table} SELECT level + 1, ${columns} FROM ${table} WHERE ${inRange} ORDER BY ${columns}`,
    );
    this.#remove = database.prepare(`DELETE FROM ${table} WHERE ${inRange}`);
    this.#removeFrom = database.prepare(
      `DELETE FROM ${table} WHERE ${IN_ALL_LEVELS} AND (${columns}) IN (
       SELECT substr(id, 1, ${PREFIX_LENGTH}), ${key.join()} FROM ${rows} WHERE height >= ? AND typeof(id) = 'blob')`,
    );
    this.#removeAll = database.prepare(`DELETE FROM ${table}`);
  }

  /** Adds the row with a full id. */
  add(id: Uint8Array, ...key: number[]): void {
    this.#insert.run(id.subarray(0, PREFIX_LENGTH), ...key);
  }

  /** Moves entries to higher levels. Must be called when the number of entries grows from one number to another. */
  grow(before: number, after: number): void {
    const end = Math.floor(after / STEP_ENTRIES);
    for (let step = Math.floor(before / STEP_ENTRIES) + 1; step <= end; step++) {
      // Entries move by one level at most: those of level 1 before those of level 0.
      this.#move(1, step);
      this.#move(0, step);
    }
  }

  /** Removes the entries of the rows at and above a height, before these are removed. */
  removeFrom(height: number): void {
    // SQLite empties a table at once.
    if (height <= 1) this.#removeAll.run();
    else this.#removeFrom.run(height);
  }

  #move(level: 0 | 1, step: number): void {
    const range = rangeOf(step, RANGES[level]);
    this.#copy.run(level, ...range);
    this.#remove.run(level, ...range);
  }
}

/** Returns the range of prefixes that a step moves: the first one, and the first one after the range. */
function rangeOf(step: number, ranges: number): readonly [from: SqlValue, before: SqlValue] {
  const range = step % ranges;
  return [bytesAt(range / ranges), bytesAt((range + 1) / ranges)];
}

/** Returns the first bytes at a part of all prefixes: 0 to 1, the end, which is after every prefix. */
function bytesAt(part: number): Uint8Array {
  if (part === 1) return new Uint8Array(PREFIX_LENGTH + 1).fill(0xff);
  const bytes = new Uint8Array(2);
  new DataView(bytes.buffer).setUint16(0, part * 2 ** 16);
  return bytes;
}

/** Builds an index from the rows, all of them in the last level: sorted once, which takes a fraction of the time of its growth. */
export function rebuildIdLevels(database: Database, { table, rows, key }: IdIndex): void {
  database.transaction(() => {
    database.execute(
      `DELETE FROM ${table};
       INSERT INTO ${table} SELECT ${LAST_LEVEL}, substr(id, 1, ${PREFIX_LENGTH}) AS prefix, ${key.join()} FROM ${rows}
         WHERE typeof(id) = 'blob' ORDER BY prefix, ${key.join()}`,
    );
  });
}
