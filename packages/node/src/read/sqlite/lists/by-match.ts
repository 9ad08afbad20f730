/**
 * Plan "match": a value index or an index finds few enough transactions by the value of a column to hold their positions in
 * memory; other conditions are tested row by row. Costs sorting the positions, or looking up each of the rows.
 */
import { LRUCache } from "lru-cache";
import { firstIndex } from "../../../platform/binary-search.ts";
import type { Database } from "../../../store/engine/database.ts";
import type { Head } from "../../head.ts";
import type { Direction, Integer, Interval, Range } from "../../page.ts";
import { type AccessPaths, accessPathsOf, keysText, valuesOf } from "./access-paths.ts";
import { MAX_LOOKED_UP, MAX_SORTED } from "./choose.ts";
import { allOf, type Condition, indexed } from "./conditions.ts";
import type { OrderTerm } from "./keyset-cursor.ts";
import { type HeightEntry, type Start, startAt } from "./offset-cache.ts";
import { type PageOfPositions, positionAfter } from "./positions.ts";
import type { ChunksOf } from "./time-box.ts";
import { bytesOf, type Kind, rowsBetween, rowsWith, SEQUENCES, type ValueIndex } from "./value-index.ts";
import type { ValueIndexes } from "./value-index-cache.ts";

/** Rows identified by their positions in the chain. */
export type Matches = {
  readonly count: number;
  /** Positions of the rows; undefined if they are too many to be looked up one by one. */
  readonly positions: readonly number[] | undefined;
  /** Returns a page in the order of the chain; undefined if the rows are too many to be sorted. */
  page(order: readonly OrderTerm[], range: Range): PageOfPositions | undefined;
  /** Returns where such a page starts (`lists/offset-cache.ts`). */
  startOf(direction: Direction, offset: number): Start;
};

/** A filter on the values of a column: values between two bounds, or values that contain a text. */
export type Wanted = {
  readonly column: string;
  readonly kind: Kind;
  readonly value: Integer | Interval;
  /** The filter as a test of each row along the chain, for values that nearly all rows have. */
  readonly alongTheChain: Condition;
};

export type Matching = {
  /** Returns the matching rows; undefined while no value index exists. */
  matches(head: Head, wanted: Wanted): Matches | undefined;
  /** Returns the positions of rows that an index finds. */
  positions(paths: AccessPaths): readonly number[];
  /** Returns the given rows that meet all conditions; looks up each row. */
  passing(head: Head, positions: readonly number[], conditions: readonly Condition[]): Matches;
};

/** Matches rows at one of the positions. */
export const isAt = (positions: readonly number[]): Condition => {
  const sql = `(height, sequence) IN (SELECT value / ${SEQUENCES}, value % ${SEQUENCES} FROM json_each(?))`;
  return indexed({ sql, values: [JSON.stringify(positions)] }, "few");
};

const ALL = accessPathsOf({ conditions: [] });
const TABLE = { table: "transactions", key: ["height", "sequence"] };

/** Number of parts of the chain whose rows are counted if they are too many to be sorted. */
const PARTS = 1_000;
/** Maximum number of frequent values whose matches are cached until the next block: 50 kB each. */
const MAX_KEPT = 20;

export function createMatching(database: Database, chunksOf: ChunksOf, valueIndexes: ValueIndexes): Matching {
  const kept = new WeakMap<ValueIndex, LRUCache<string, Matches>>();

  return {
    matches(head, { column, kind, value }) {
      const valueIndex = valueIndexes.find(head, { column, kind, paths: ALL });
      if (!valueIndex) return undefined;
      const known = kept.get(valueIndex) ?? new LRUCache({ max: MAX_KEPT });
      // Each block replaces the value indexes.
      kept.set(valueIndex, known);
      const name = JSON.stringify(value);
      const before = known.get(name);
      if (before) return before;
      const groups =
        kind === "text" ? rowsWith(valueIndex, `${value}`) : rowsBetween(valueIndex, ...endsOf(kind, value));
      const matches = matchesOf(head, groups);
      if (matches.count > MAX_SORTED) known.set(name, matches);
      return matches;
    },
    positions(paths) {
      const positions: number[] = [];
      for (const { paths: chunk } of chunksOf(TABLE, paths, "asc")) {
        const rows = database.prepare<{ position: number }>(
          `SELECT height * ${SEQUENCES} + sequence AS position FROM (${keysText(TABLE, chunk)})`,
        );
        for (const { position } of rows.all(...valuesOf(chunk))) positions.push(position);
      }
      return positions;
    },
    passing(head, positions, conditions) {
      const { sql, values } = allOf(conditions);
      const select = database.prepare<{ position: number }>(
        `SELECT position FROM (
           SELECT value AS position, value / ${SEQUENCES} AS height, value % ${SEQUENCES} AS sequence FROM json_each(?)
         ) AS found CROSS JOIN transactions USING (height, sequence) WHERE ${sql}`,
      );
      const rows = select.all(JSON.stringify(positions), ...values);
      return matchesOf(head, [Float64Array.from(rows, ({ position }) => position)]);
    },
  };
}

function endsOf(
  kind: Kind,
  wanted: Integer | Interval,
): [from: Uint8Array | undefined, to: Uint8Array | undefined] {
  const { from, to } = typeof wanted === "object" ? wanted : { from: wanted, to: wanted };
  const end = (value: Integer | undefined) => (value === undefined ? undefined : bytesOf(kind, `${value}`));
  return [end(from), end(to)];
}

function matchesOf(head: Head, groups: readonly Float64Array[]): Matches {
  const count = groups.reduce((sum, { length }) => sum + length, 0);
  if (count > MAX_SORTED) return manyOf(count, entriesOf(head, groups));
  return {
    count,
    positions: count > MAX_LOOKED_UP ? undefined : groups.flatMap((rows) => [...rows]),
    page: (order, range) => pageByPosition(groups, count, order, range),
    startOf: (direction, offset) => startAt(entriesOf(head, groups), count, direction, offset),
  };
}

/** Creates matches without positions: entries use less memory. */
const manyOf = (count: number, entries: readonly HeightEntry[]): Matches => ({
  count,
  positions: undefined,
  page: () => undefined,
  startOf: (direction, offset) => startAt(entries, count, direction, offset),
});

/** Returns the position with its sequence counted from the other end. */
const backwards = (position: number): number => position + SEQUENCES - 1 - 2 * (position % SEQUENCES);

function pageByPosition(
  groups: readonly Float64Array[],
  count: number,
  order: readonly OrderTerm[],
  range: Range,
): PageOfPositions {
  const [{ direction }, sequence] = order as readonly [OrderTerm, OrderTerm];
  // Sequences that run against the heights are reversed before rows are sorted as numbers, and again afterwards.
  const reversed = sequence.direction === direction ? (position: number) => position : backwards;
  const sorted = new Float64Array(count);
  let length = 0;
  for (const rows of groups) for (const position of rows) sorted[length++] = reversed(position);
  sorted.sort();
  if (direction === "desc") sorted.reverse();
  const offset =
    range.after === undefined
      ? range.offset
      : indexAfter(sorted, direction, reversed(positionAfter(order, range.after)));
  const positions = [...sorted.subarray(offset, offset + range.limit)].map(reversed);
  return { positions, totalCount: count, isLast: offset + positions.length >= count };
}

function indexAfter(sorted: Float64Array, direction: Direction, position: number): number {
  return firstIndex(sorted.length, (index) => {
    const other = sorted[index] ?? 0;
    return direction === "asc" ? other > position : other < position;
  });
}

/** Counts the rows up to certain heights. */
function entriesOf({ height }: Head, groups: readonly Float64Array[]): HeightEntry[] {
  const size = SEQUENCES * Math.ceil((height + 1) / PARTS);
  const counts = new Uint32Array(PARTS);
  for (const rows of groups) {
    for (const position of rows) {
      const part = Math.floor(position / size);
      counts[part] = (counts[part] ?? 0) + 1;
    }
  }
  let rows = 0;
  return Array.from(counts, (count, part) => {
    rows += count;
    return { height: ((part + 1) * size) / SEQUENCES - 1, rows };
  });
}
