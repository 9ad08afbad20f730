/**
 * Count cache: numbers of rows of lists. Counts of any table are cached until the next block. Counts of a growing table are
 * continued from one head to the next: each row is counted once regardless of later blocks. The writer of the chain stores
 * some counts of transactions, which need no counting. Rows are counted only on request, so that writing blocks costs nothing
 * (docs/decisions/0017-write-json-without-a-compiled-serializer.md).
 */
import { LRUCache } from "lru-cache";
import { firstIndex } from "../../../platform/sorted.ts";
import type { Database } from "../../../store/engine/database.ts";
import type { Direction } from "../../page.ts";
import { type Head, perHead } from "../../port.ts";
import type { Heights } from "../../sql.ts";
import {
  type AccessPaths,
  countText,
  createStatementCache,
  inRange,
  type KeyedTable,
  keysText,
  valuesOf,
} from "./access-paths.ts";
import type { Condition } from "./conditions.ts";
import { type HeightEntry, type Start, startAt } from "./offset-cache.ts";
import { type ChunksOf, createTimeoutCache } from "./time-box.ts";

/** @throws {SnapshotError} */
export type CountCache = (head: Head, paths: AccessPaths) => number;

/** Maximum number of cached counts, less if the texts of their selections are long. */
const MAX_COUNTS = 1_000;
const MAX_NAME_LENGTH = 4_000;

/** Creates a cache of counts until the next block. */
export function createCountCache(database: Database, chunksOf: ChunksOf, listed: KeyedTable): CountCache {
  const prepare = createStatementCache(database);
  const unlessTimedOut = createTimeoutCache();
  const counts = perHead(() => new LRUCache<string, number>({ max: MAX_COUNTS }));

  const countAtOnce = (paths: AccessPaths) =>
    (prepare(countText(listed, paths)).get(...valuesOf(paths)) as { total: number }).total;

  function count(paths: AccessPaths): number {
    // SQLite counts a table without reading its rows.
    if (paths.every(({ lookups, residuals }) => lookups.length + residuals.length === 0)) {
      return countAtOnce(paths);
    }
    let total = 0;
    for (const chunk of chunksOf(listed, paths, "asc")) total += countAtOnce(chunk.paths);
    return total;
  }

  return (head, paths) => {
    const known = counts(head);
    const name = [countText(listed, paths), ...valuesOf(paths)].join("\0");
    const total =
      known.get(name) ??
      unlessTimedOut(
        () => name,
        () => count(paths),
      );
    if (name.length <= MAX_NAME_LENGTH) known.set(name, total);
    return total;
  };
}

/** Number of rows of a growing table, with an offset cache of the list in the order of heights. */
export type IncrementalCount = {
  readonly totalCount: number;
  startOf(direction: Direction, offset: number): Start;
};

/** Accepts only conditions that do not depend on the head. */
export type IncrementalCounts = (head: Head, paths: AccessPaths) => IncrementalCount;

/** A table to which blocks append rows with their height. */
type GrowingTable = KeyedTable & { readonly key: readonly ["height", ...string[]] };

/** Counts of a filter: entries by ascending height, and the last counted block. */
type Counted = { readonly entries: HeightEntry[]; last: HeightEntry };

/** Rows between two entries, and so the maximum distance of a page from an entry, apart from the rest of a block. */
const STEP = 250;
/** Maximum number of cached filters. Each uses 32 bytes per step: 26 MB in total if each finds a million rows. */
const MAX_FILTERS = 200;
const START: HeightEntry = { height: 0, rows: 0 };

export function createIncrementalCounts(
  database: Database,
  chunksOf: ChunksOf,
  listed: GrowingTable,
): IncrementalCounts {
  const countedByFilter = new LRUCache<string, Counted>({ max: MAX_FILTERS });
  const prepare = createStatementCache(database);
  const blockId = database.prepare<{ id: string }>("SELECT id_text AS id FROM blocks WHERE height = ?");
  let known: Head | undefined;

  /** Discards all counts if a block was reverted. */
  function follow(head: Head): void {
    if (known && known.id !== head.id && blockId.get(known.height)?.id !== known.id) countedByFilter.clear();
    known = head;
  }

  /** Keeps the partial count if the time runs out. */
  function count(head: Head, paths: AccessPaths, counted: Counted): void {
    const { entries } = counted;
    const above: Condition = { sql: "height > ?", values: [counted.last.height] };
    for (const { paths: chunk, end } of chunksOf(listed, inRange(paths, above, "low"), "asc")) {
      const select = prepare(
        `SELECT height, COUNT(*) AS rows FROM (${keysText(listed, chunk)}) GROUP BY height ORDER BY height`,
      );
      for (const { height, rows } of select.all(...valuesOf(chunk)) as HeightEntry[]) {
        counted.last = { height, rows: counted.last.rows + rows };
        if (counted.last.rows - (entries.at(-1) ?? START).rows >= STEP) entries.push(counted.last);
      }
      counted.last = { ...counted.last, height: end ? Number(end[0]) : head.height };
    }
  }

  return (head, paths) => {
    follow(head);
    const name = [keysText(listed, paths), ...valuesOf(paths)].join("\0");
    const counted = countedByFilter.get(name) ?? { entries: [], last: START };
    countedByFilter.set(name, counted);
    if (counted.last.height < head.height) count(head, paths, counted);
    const { entries } = counted;
    const totalCount = counted.last.rows;
    return { totalCount, startOf: (direction, offset) => startAt(entries, totalCount, direction, offset) };
  };
}

type TypeCount = {
  readonly typeGroup: number;
  readonly type: number;
  readonly transactions: number;
};

export type StoredCounts = {
  /** Returns the number of transactions up to and including the block of a height; 0 below the first block. */
  upTo(height: number): number;
  between(heights: Heights): number;
  /** Returns the lowest height whose count reaches `count`; one above the head if none does. */
  heightOf(count: number, head: Head): number;
  byType(head: Head): readonly TypeCount[];
};

/** Returns the counts of transactions that are stored with the blocks. */
export function createStoredCounts(database: Database): StoredCounts {
  const end = database.prepare<{ transactions: number }>(
    "SELECT transactions_up_to AS transactions FROM blocks WHERE height = ?",
  );
  const types = database.prepare<TypeCount>(
    "SELECT type_group AS typeGroup, type, transactions FROM type_totals",
  );
  const upTo = (height: number) => end.get(height)?.transactions ?? 0;
  return {
    upTo,
    between: ({ low, high }) => (low > high ? 0 : upTo(high) - upTo(low - 1)),
    // Counts never decrease with the height: a binary search needs no index on them.
    heightOf: (count, head) => 1 + firstIndex(head.height, (index) => upTo(index + 1) >= count),
    byType: perHead(() => types.all()),
  };
}
