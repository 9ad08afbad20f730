/**
 * Plan "position list": a value index or an index finds few enough transactions to hold their positions in memory, as a bitmap scan
 * does; other conditions are tested row by row. Costs sorting the positions, or looking up each of the rows.
 */
import { LRUCache } from "lru-cache";
import type { Database } from "../../../store/engine/database.ts";
import type { Direction, Integer, Interval, Range } from "../../page.ts";
import type { Head } from "../../port.ts";
import { allOf, anyOf } from "../../sql.ts";
import { type AccessPaths, accessPathsOf, keysText, type Selection, valuesOf } from "./access-paths.ts";
import type { Condition } from "./conditions.ts";
import type { IncrementalCounts, StoredCounts } from "./count-cache.ts";
import type { OrderTerm } from "./keyset-cursor.ts";
import { type HeightEntry, type Start, startAt } from "./offset-cache.ts";
import { MAX_LOOKED_UP, MAX_SORTED } from "./planner.ts";
import { type PositionPage, pageByPosition } from "./position-page.ts";
import type { ChunksOf } from "./time-box.ts";
import {
  bytesOf,
  type Kind,
  rowsBetween,
  rowsContaining,
  SEQUENCES,
  type ValueIndex,
} from "./value-index.ts";
import type { ValueIndexes } from "./value-index-cache.ts";

/** Rows identified by their positions in the chain. */
export type PositionList = {
  readonly count: number;
  /** Positions of the rows; undefined if they are too many to be looked up one by one. */
  readonly positions: readonly number[] | undefined;
  /** Returns a page in the order of the chain; undefined if the rows are too many to be sorted. */
  page(order: readonly OrderTerm[], range: Range): PositionPage | undefined;
  /** Returns where such a page starts (`lists/offset-cache.ts`). */
  startOf(direction: Direction, offset: number): Start;
};

/** A condition on the values of a column: values between two bounds, or values that contain a text. */
export type ValueCondition = {
  readonly column: string;
  readonly kind: Kind;
  readonly value: Integer | Interval;
  /** The condition as a test of each row along the chain, for values that nearly all rows have. */
  readonly test: Condition;
};

export type PositionQuery = {
  readonly selection: Pick<Selection, "conditions" | "alternatives">;
  /** Conditions on the value of a column, which a value index can look up. */
  readonly values: readonly ValueCondition[];
  /** Parts of the conditions that an index can look up, each on its own. */
  readonly indexed: readonly AccessPaths[];
};

/** Returns all rows of a query if they are identified by their positions; otherwise undefined. */
export type PositionLists = (head: Head, query: PositionQuery) => PositionList | undefined;

type PositionListDependencies = {
  readonly database: Database;
  readonly chunksOf: ChunksOf;
  readonly valueIndexes: ValueIndexes;
  readonly storedCounts: StoredCounts;
  readonly incrementalCount: IncrementalCounts;
  /** Minimum number of rows for which a value index is built. */
  readonly minIndexedRows: number;
};

const ALL = accessPathsOf({ conditions: [] });
const TABLE = { table: "transactions", key: ["height", "sequence"] };

/** Number of parts of the chain whose rows are counted if they are too many to be sorted. */
const PARTS = 1_000;
/** Maximum number of frequent values whose lists are cached until the next block: 50 kB each. */
const MAX_KEPT = 20;

export function createPositionLists(deps: PositionListDependencies): PositionLists {
  const { database, chunksOf, storedCounts, incrementalCount, minIndexedRows } = deps;
  const listByValue = createListByValue(deps.valueIndexes);

  /** Returns the rows of the most selective condition on a value. */
  function mostSelective(head: Head, values: readonly ValueCondition[]): PositionList | undefined {
    const found = values.map((one) => listByValue(head, one)).filter((list) => list !== undefined);
    return found.sort((a, b) => a.count - b.count)[0];
  }

  /** Returns the rows of the most selective index, if each condition alone finds too many rows to sort but few meet all. */
  function lookedUp(head: Head, indexed: readonly AccessPaths[]): readonly number[] | undefined {
    if (indexed.length < 2) return undefined;
    const [fewest] = indexed
      .map((paths) => ({ paths, count: incrementalCount(head, paths).totalCount }))
      .sort((a, b) => a.count - b.count);
    return !fewest || fewest.count > MAX_LOOKED_UP
      ? undefined
      : positionsOf(database, chunksOf, fewest.paths);
  }

  return (head, { selection, values, indexed }) => {
    if (storedCounts.upTo(head.height) < minIndexedRows) return undefined;
    const { conditions, alternatives = [] } = selection;
    const list = mostSelective(head, values);
    const positions = list?.positions ?? lookedUp(head, indexed);
    // The list has exactly the rows of the query, or a superset.
    if (alternatives.length === 0 && conditions.length === 1) return list;
    if (!positions) return undefined;
    const tests = [...conditions, ...(alternatives.length > 0 ? [anyOf(alternatives)] : [])];
    return listOf(head, [passing(database, positions, tests)]);
  };
}

/** Returns a function that returns the rows that meet a condition; undefined while no value index exists. */
function createListByValue(
  valueIndexes: ValueIndexes,
): (head: Head, condition: ValueCondition) => PositionList | undefined {
  const kept = new WeakMap<ValueIndex, LRUCache<string, PositionList>>();
  return (head, { column, kind, value }) => {
    const valueIndex = valueIndexes.find(head, { column, kind, paths: ALL });
    if (!valueIndex) return undefined;
    const known = kept.get(valueIndex) ?? new LRUCache({ max: MAX_KEPT });
    // Each block replaces the value indexes.
    kept.set(valueIndex, known);
    const name = JSON.stringify(value);
    const before = known.get(name);
    if (before) return before;
    const groups =
      kind === "text"
        ? rowsContaining(valueIndex, `${value}`)
        : rowsBetween(valueIndex, ...endsOf(kind, value));
    const list = listOf(head, groups);
    if (list.count > MAX_SORTED) known.set(name, list);
    return list;
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

/** Returns the positions of rows that an index finds. */
function positionsOf(database: Database, chunksOf: ChunksOf, paths: AccessPaths): readonly number[] {
  const positions: number[] = [];
  for (const chunk of chunksOf(TABLE, paths, "asc")) {
    const rows = database.prepare<{ position: number }>(
      `SELECT height * ${SEQUENCES} + sequence AS position FROM (${keysText(TABLE, chunk.paths)})`,
    );
    for (const { position } of rows.all(...valuesOf(chunk.paths))) positions.push(position);
  }
  return positions;
}

/** Returns the positions of rows that meet all conditions; looks up each row. */
function passing(
  database: Database,
  positions: readonly number[],
  conditions: readonly Condition[],
): Float64Array {
  const { sql, values } = allOf(conditions);
  const select = database.prepare<{ position: number }>(
    `SELECT position FROM (
       SELECT value AS position, value / ${SEQUENCES} AS height, value % ${SEQUENCES} AS sequence FROM json_each(?)
     ) AS found CROSS JOIN transactions USING (height, sequence) WHERE ${sql}`,
  );
  const rows = select.all(JSON.stringify(positions), ...values);
  return Float64Array.from(rows, ({ position }) => position);
}

/** Creates a list. If the rows are too many to be sorted, it has no positions: entries by height use less memory. */
function listOf(head: Head, groups: readonly Float64Array[]): PositionList {
  const count = groups.reduce((sum, { length }) => sum + length, 0);
  if (count > MAX_SORTED) {
    const entries = entriesOf(head, groups);
    const startOf: PositionList["startOf"] = (direction, offset) =>
      startAt(entries, count, direction, offset);
    return { count, positions: undefined, page: () => undefined, startOf };
  }
  return {
    count,
    positions: count > MAX_LOOKED_UP ? undefined : groups.flatMap((rows) => [...rows]),
    page: (order, range) => pageByPosition(groups, count, order, range),
    startOf: (direction, offset) => startAt(entriesOf(head, groups), count, direction, offset),
  };
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
