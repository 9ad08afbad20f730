/**
 * How many rows of a growing table a filter finds up to the block of some heights, remembered from one head to the
 * next: each row is counted once however many blocks follow, and a page far away is begun near its first row. Only
 * what is asked for is counted, so that writing blocks costs nothing more
 * (docs/decisions/0017-build-json-responses-by-concatenation.md).
 */
import { LRUCache } from "lru-cache";
import type { Database, Statement } from "../../../store/engine/database.ts";
import type { Head } from "../../head.ts";
import type { Direction } from "../../page.ts";
import type { Condition } from "./conditions.ts";
import { type Alternatives, inRange, type KeyedTable, keysText, valuesOf } from "./selection.ts";
import type { Stretches } from "./stretches.ts";

export type Tally = {
  readonly totalCount: number;
  /** Where a page begins that is ordered by height: rows to leave out, and what is left of the offset. */
  startOf(direction: Direction, offset: number): { readonly from?: Condition; readonly offset: number };
};

/** To be asked about conditions that do not depend on the head. */
export type Tallies = (head: Head, alternatives: Alternatives) => Tally;

/** Rows are added at its end only, with the blocks that have their heights. */
type GrowingTable = KeyedTable & { readonly key: readonly ["height", ...string[]] };

/** Rows up to and with the block of a height. */
export type Mark = { readonly height: number; readonly rows: number };

/** What is known of a filter: marks by ascending height, and the last block that was counted. */
type Counted = { readonly marks: Mark[]; last: Mark };

/** Rows between two marks, and so the most that a page is away from one, but for the rest of a block. */
const STEP = 250;
/** Filters remembered. Each takes 32 bytes for every step: 26 MB for all of them where each finds a million rows. */
const MAX_FILTERS = 200;

export function createTallies(database: Database, stretches: Stretches, listed: GrowingTable): Tallies {
  const countedByFilter = new LRUCache<string, Counted>({ max: MAX_FILTERS });
  const statements = new LRUCache<string, Statement<{ height: number; rows: number }>>({ max: MAX_FILTERS });
  const blockId = database.prepare<{ id: string }>("SELECT id FROM blocks WHERE height = ?");
  let known: Head | undefined;

  /** Nothing holds any more once a block has gone. */
  function follow(head: Head): void {
    if (known && known.id !== head.id && blockId.get(known.height)?.id !== known.id) countedByFilter.clear();
    known = head;
  }

  function statementOf(sql: string): Statement<{ height: number; rows: number }> {
    const prepared = statements.get(sql);
    if (prepared) return prepared;
    const statement = database.prepare<{ height: number; rows: number }>(
      `SELECT height, COUNT(*) AS rows FROM (${sql}) GROUP BY height ORDER BY height`,
    );
    statements.set(sql, statement);
    return statement;
  }

  /** What is done stays so when there is no time for the rest. */
  function count(head: Head, alternatives: Alternatives, counted: Counted): void {
    const { marks } = counted;
    const above: Condition = { sql: "height > ?", values: [counted.last.height] };
    for (const { alternatives: part, end } of stretches(listed, inRange(alternatives, above, "low"), "asc")) {
      const heights = statementOf(keysText(listed, part)).all(...valuesOf(part));
      for (const { height, rows } of heights) {
        counted.last = { height, rows: counted.last.rows + rows };
        if (counted.last.rows - (marks.at(-1) ?? START).rows >= STEP) marks.push(counted.last);
      }
      counted.last = { ...counted.last, height: end ? Number(end[0]) : head.height };
    }
  }

  return (head, alternatives) => {
    follow(head);
    const name = [keysText(listed, alternatives), ...valuesOf(alternatives)].join("\0");
    const counted = countedByFilter.get(name) ?? { marks: [], last: START };
    countedByFilter.set(name, counted);
    if (counted.last.height < head.height) count(head, alternatives, counted);
    const { marks } = counted;
    const totalCount = counted.last.rows;
    return { totalCount, startOf: (direction, offset) => startOf(marks, totalCount, direction, offset) };
  };
}

const START: Mark = { height: 0, rows: 0 };

/** @param marks by ascending height */
export function startOf(marks: readonly Mark[], totalCount: number, direction: Direction, offset: number) {
  if (direction === "asc") {
    const mark = marks[firstWith(marks, (rows) => rows > offset) - 1];
    if (!mark) return { offset };
    return { offset: offset - mark.rows, from: { sql: "height > ?", values: [mark.height] } };
  }
  const rank = totalCount - offset;
  const mark = marks[firstWith(marks, (rows) => rows >= rank)];
  if (!mark) return { offset };
  return { offset: mark.rows - rank, from: { sql: "height <= ?", values: [mark.height] } };
}

/** Index of the first mark that passes a test which all behind it pass too; their number if there is none. */
function firstWith(marks: readonly Mark[], test: (rows: number) => boolean): number {
  let [low, high] = [0, marks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(marks[middle]!.rows)) high = middle;
    else low = middle + 1;
  }
  return low;
}
