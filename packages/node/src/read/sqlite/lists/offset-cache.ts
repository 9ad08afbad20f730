/**
 * Offset cache: a sparse index of positions in a list by the number of rows before them. A page with a large offset starts at
 * the nearest entry instead of skipping all rows before it. Plan "offset cache": costs the rows between two entries, plus
 * once the rows up to the entry.
 */
import { LRUCache } from "lru-cache";
import { present } from "../../../platform/present.ts";
import { firstIndex } from "../../../platform/sorted.ts";
import type { Database } from "../../../store/engine/database.ts";
import type { Direction } from "../../page.ts";
import { type Head, perHead } from "../../port.ts";
import {
  accessPathsOf,
  createStatementCache,
  inRange,
  type KeyedTable,
  pageText,
  type Selection,
  valuesOf,
} from "./access-paths.ts";
import type { Condition } from "./conditions.ts";
import { after, cursorFrom, valuesText } from "./keyset-cursor.ts";
import type { TimeBox } from "./time-box.ts";

/** Start of a page: a row to start at, and the remaining offset from that row. */
export type Start = { readonly from?: Condition; readonly offset: number };

/** Rows between two entries of a list that an index has in order. */
const STEP = 1_000;
/** Maximum number of cached lists. Each uses 200 bytes per step: 4 MB in total at two hundred thousand rows. */
const MAX_LISTS = 100;

/** Returns where a page of a list starts. */
export type OffsetCache = (head: Head, selection: Selection, offset: number) => Start;

/**
 * Creates an offset cache for lists that an index has in order. Its entries are keyset cursors, cached until the next block and
 * read only as far as requests need them. Transactions have entries by height instead (`lists/count-cache.ts`).
 */
export function createOffsetCache(database: Database, time: TimeBox, listed: KeyedTable): OffsetCache {
  const prepare = createStatementCache(database);
  const cursorsByList = perHead(() => new LRUCache<string, string[]>({ max: MAX_LISTS }));

  /** Returns the cursor of the row that is one step after a cursor, or after the beginning; undefined beyond the end. */
  function nextCursor(selection: Selection, last: string | undefined): string | undefined {
    time.check();
    const { order } = selection;
    const rest = inRange(accessPathsOf(selection), last === undefined ? undefined : after(order, last));
    const { text, names } = pageText(listed, rest, order);
    const select = prepare(`SELECT ${valuesText(names)} AS "values" FROM (${text})`);
    const row = select.get(...valuesOf(rest), 1, STEP - 1) as { values: string } | undefined;
    return row && cursorFrom(order, row.values);
  }

  return (head, selection, offset) => {
    const { order } = selection;
    const paths = accessPathsOf(selection);
    const wanted = Math.floor(offset / STEP);
    const name = [pageText(listed, paths, order).text, ...valuesOf(paths)].join("\0");
    const lists = cursorsByList(head);
    const cursors = lists.get(name) ?? [];
    lists.set(name, cursors);
    while (cursors.length < wanted) {
      const cursor = nextCursor(selection, cursors.at(-1));
      if (cursor === undefined) break;
      cursors.push(cursor);
    }
    const count = Math.min(wanted, cursors.length);
    const cursor = cursors[count - 1];
    return { offset: offset - count * STEP, ...(cursor !== undefined && { from: after(order, cursor) }) };
  };
}

/** Entry by height: number of rows up to and including the block of a height. */
export type HeightEntry = { readonly height: number; readonly rows: number };

/**
 * Returns where a page in the order of heights starts.
 *
 * @param entries by ascending height
 */
export function startAt(
  entries: readonly HeightEntry[],
  totalCount: number,
  direction: Direction,
  offset: number,
): Start {
  const rowsAt = (index: number) => present(entries[index], "an entry").rows;
  if (direction === "asc") {
    const entry = entries[firstIndex(entries.length, (index) => rowsAt(index) > offset) - 1];
    if (!entry) return { offset };
    return { offset: offset - entry.rows, from: { sql: "height > ?", values: [entry.height] } };
  }
  const rank = totalCount - offset;
  const entry = entries[firstIndex(entries.length, (index) => rowsAt(index) >= rank)];
  if (!entry) return { offset };
  return { offset: entry.rows - rank, from: { sql: "height <= ?", values: [entry.height] } };
}
