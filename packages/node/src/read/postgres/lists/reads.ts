/** Parameters that all reads of a snapshot share, and caches of counts and offsets of lists, by head. */

import { LRUCache } from "lru-cache";
import type { PostgresValue } from "../../../postgres/connection.ts";
import type { Prepared, ReadQuery } from "../../../postgres/reads.ts";
import { type Head, SharedReads } from "../../port.ts";
import type { RowFields, RowText } from "../row-text.ts";
import { type Condition, isStorable } from "./conditions.ts";

export type SnapshotReads = {
  readonly head: Head;
  /** Number of transactions up to and including the head. */
  readonly transactions: number;
  readonly query: ReadQuery<PostgresValue>;
  readonly counts: CountCache;
  readonly offsets: OffsetCache;
};

/** Returns the only row of a statement that finds at most one. */
export const first = async <Row>(rows: Promise<Row[]>): Promise<Row | undefined> => (await rows)[0];

/** Returns the row that a statement finds by a text; undefined also if no column can contain the text. */
export const findBy = async <Row>(
  { query }: SnapshotReads,
  statement: Prepared,
  text: string,
): Promise<Row | undefined> => (isStorable(text) ? first(query<Row>(statement, [text])) : undefined);

/** Returns the row that a statement finds by a text, for a statement that selects the text of the row. */
export async function findRow<Row>(
  reads: SnapshotReads,
  row: RowText<Row>,
  statement: Prepared,
  text: string,
): Promise<Row | undefined> {
  const selected = await findBy<RowFields>(reads, statement, text);
  return selected && row.read(selected);
}

/** Maximum number of cached counts of all heads. */
const MAX_COUNTS = 1_000;
/** Maximum length of the SQL and the values of a filter or a list that is cached. */
const MAX_NAME_LENGTH = 4_000;

/** Cache of counts by filter and head. */
export class CountCache {
  readonly #reads = new SharedReads<number>(MAX_COUNTS);

  /** Returns the number of rows of a filter, or the result of `count`, which concurrent callers share. */
  read(head: Head, { sql, values }: Condition, count: () => Promise<number>): Promise<number> {
    const name = `${head.id} ${sql} ${JSON.stringify(values)}`;
    return name.length > MAX_NAME_LENGTH ? count() : this.#reads.read(name, count);
  }
}

export type StartCursor = { readonly cursor?: string; readonly rest: number };

type ReadCursors = (cursor: string | undefined, count: number) => Promise<string[]>;

/** Skipping this many rows costs less than a tenth of a page of 100. */
const STEP = 100;
/**
 * Maximum number of entries of a list: one request can cause the read of all of them, which takes some milliseconds of this thread.
 * Pages beyond skip the rows after the last entry.
 */
const MAX_ENTRIES_PER_LIST = 2_000;
/** Maximum number of cached entries of all lists, each of about 100 bytes. */
const MAX_ENTRIES = 100_000;

type Known = { readonly wanted: number; readonly cursors: Promise<readonly string[]> };

/**
 * A sparse index of the rows of a list, with the cursor of every so many rows. A page with a large offset starts at the nearest entry
 * instead of skipping all rows before it. Entries are read only as far as requests need them.
 */
export class OffsetCache {
  /** Number of rows from one entry to the next. */
  readonly step: number;
  readonly #lists = new LRUCache<string, Known>({ maxSize: MAX_ENTRIES });

  constructor(step = STEP) {
    this.step = step;
  }

  /**
   * Returns the last entry before an offset, if any, and the remaining offset after it. Concurrent callers share reads.
   *
   * @param list SQL of the rows in their order, which identifies the list
   * @param read reads the next cursors, up to a number of them, after the row at a cursor or from the beginning
   */
  async before(
    head: Head,
    { sql, values }: Condition,
    offset: number,
    read: ReadCursors,
  ): Promise<StartCursor> {
    const wanted = Math.min(Math.floor(offset / this.step), MAX_ENTRIES_PER_LIST);
    const name = `${head.id} ${sql} ${JSON.stringify(values)}`;
    if (wanted === 0 || name.length > MAX_NAME_LENGTH) return { rest: offset };
    const cursors = await this.#cursorsOf(name, wanted, read);
    const count = Math.min(wanted, cursors.length);
    const cursor = cursors[count - 1];
    return { ...(cursor !== undefined && { cursor }), rest: offset - count * this.step };
  }

  /** Returns the first cursors of a list, at least `wanted` unless the list ends before. */
  #cursorsOf(name: string, wanted: number, read: ReadCursors): Promise<readonly string[]> {
    const known = this.#lists.get(name);
    // Reads again after a failure: the snapshot of the other caller may have had less time.
    if (known && known.wanted >= wanted) {
      return known.cursors.catch(() => this.#cursorsOf(name, wanted, read));
    }
    const list: Known = { wanted, cursors: extend(known, wanted, read) };
    this.#lists.set(name, list, { size: 1 });
    list.cursors.then(
      ({ length }) => {
        if (this.#lists.peek(name) === list) this.#lists.set(name, list, { size: 1 + length });
      },
      () => {
        if (this.#lists.peek(name) === list) this.#lists.delete(name);
      },
    );
    return list.cursors;
  }
}

async function extend(
  known: Known | undefined,
  wanted: number,
  read: ReadCursors,
): Promise<readonly string[]> {
  const before = (await known?.cursors.catch(() => undefined)) ?? [];
  const hasEnded = known !== undefined && before.length > 0 && before.length < known.wanted;
  return hasEnded ? before : [...before, ...(await read(before.at(-1), wanted - before.length))];
}
