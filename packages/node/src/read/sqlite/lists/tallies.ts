/**
 * Row counts of filters on a growing table up to certain heights, kept from one head to the next: each row is counted
 * once regardless of later blocks, and a page with a large offset starts near its first row. Rows are counted only on
 * request, so that writing blocks costs nothing
 * (docs/decisions/0017-build-json-responses-by-concatenation.md).
 */

import { LRUCache } from "lru-cache";
import { firstIndex } from "../../../platform/binary-search.ts";
import { present } from "../../../platform/present.ts";
import type { Database } from "../../../store/engine/database.ts";
import type { Head } from "../../head.ts";
import type { Direction } from "../../page.ts";
import {
  type AccessPaths,
  createStatementCache,
  inRange,
  type KeyedTable,
  keysText,
  valuesOf,
} from "./access-paths.ts";
import type { Condition } from "./conditions.ts";
import type { ChunksOf } from "./time-box.ts";

export type Tally = {
  readonly totalCount: number;
  /** Returns where a page in the order of heights starts: a condition that skips rows, and the remaining offset. */
  startOf(direction: Direction, offset: number): { readonly from?: Condition; readonly offset: number };
};

/** Accepts only conditions that do not depend on the head. */
export type Tallies = (head: Head, paths: AccessPaths) => Tally;

/** A table to which blocks append rows with their height. */
type GrowingTable = KeyedTable & { readonly key: readonly ["height", ...string[]] };

/** Number of rows up to and including the block of a height. */
export type Mark = { readonly height: number; readonly rows: number };

/** Counts of a filter: marks by ascending height, and the last counted block. */
type Counted = { readonly marks: Mark[]; last: Mark };

/** Rows between two marks, and so the maximum distance of a page from a mark, apart from the rest of a block. */
const STEP = 250;
/** Maximum number of cached filters. Each uses 32 bytes per step: 26 MB in total if each finds a million rows. */
const MAX_FILTERS = 200;

export function createTallies(database: Database, chunksOf: ChunksOf, listed: GrowingTable): Tallies {
  const countedByFilter = new LRUCache<string, Counted>({ max: MAX_FILTERS });
  const prepare = createStatementCache(database);
  const blockId = database.prepare<{ id: string }>("SELECT id FROM blocks WHERE height = ?");
  let known: Head | undefined;

  /** Discards all counts if a block was reverted. */
  function follow(head: Head): void {
    if (known && known.id !== head.id && blockId.get(known.height)?.id !== known.id) countedByFilter.clear();
    known = head;
  }

  /** Keeps the partial count if the time runs out. */
  function count(head: Head, paths: AccessPaths, counted: Counted): void {
    const { marks } = counted;
    const above: Condition = { sql: "height > ?", values: [counted.last.height] };
    for (const { paths: part, end } of chunksOf(listed, inRange(paths, above, "low"), "asc")) {
      const select = prepare(
        `SELECT height, COUNT(*) AS rows FROM (${keysText(listed, part)}) GROUP BY height ORDER BY height`,
      );
      for (const { height, rows } of select.all(...valuesOf(part)) as Mark[]) {
        counted.last = { height, rows: counted.last.rows + rows };
        if (counted.last.rows - (marks.at(-1) ?? START).rows >= STEP) marks.push(counted.last);
      }
      counted.last = { ...counted.last, height: end ? Number(end[0]) : head.height };
    }
  }

  return (head, paths) => {
    follow(head);
    const name = [keysText(listed, paths), ...valuesOf(paths)].join("\0");
    const counted = countedByFilter.get(name) ?? { marks: [], last: START };
    countedByFilter.set(name, counted);
    if (counted.last.height < head.height) count(head, paths, counted);
    const { marks } = counted;
    const totalCount = counted.last.rows;
    return { totalCount, startOf: (direction, offset) => startOf(marks, totalCount, direction, offset) };
  };
}

const START: Mark = { height: 0, rows: 0 };

/** @param marks by ascending height */
export function startOf(marks: readonly Mark[], totalCount: number, direction: Direction, offset: number) {
  const rowsAt = (index: number) => present(marks[index], "a mark").rows;
  if (direction === "asc") {
    const mark = marks[firstIndex(marks.length, (index) => rowsAt(index) > offset) - 1];
    if (!mark) return { offset };
    return { offset: offset - mark.rows, from: { sql: "height > ?", values: [mark.height] } };
  }
  const rank = totalCount - offset;
  const mark = marks[firstIndex(marks.length, (index) => rowsAt(index) >= rank)];
  if (!mark) return { offset };
  return { offset: mark.rows - rank, from: { sql: "height <= ?", values: [mark.height] } };
}
