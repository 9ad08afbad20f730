/**
 * Plan "position list": a value index or an index finds few enough transactions to hold their positions in memory, as a bitmap scan
 * does; other conditions are tested row by row. Costs sorting the positions, or looking up each of the rows.
 */
import { LRUCache } from "lru-cache";
import type { Database } from "../../../store/engine/database.ts";
import type { Integer, Interval, Range } from "../../page.ts";
import type { Head } from "../../port.ts";
import { allOf, anyOf } from "../../sql.ts";
import {
  type AccessPaths,
  accessPathsOf,
  keysText,
  type Selection,
  TRANSACTIONS,
  valuesOf,
} from "./access-paths.ts";
import type { Condition, OrderTerm } from "./conditions.ts";
import type { HeightEntry, IncrementalCounts, StoredCounts } from "./count-cache.ts";
import { MAX_LOOKED_UP, MAX_SORTED } from "./planner.ts";
import { type PositionPage, pageByPosition } from "./position-page.ts";
import type { Chunks } from "./time-box.ts";
import {
  bytesOf,
  type Kind,
  rowsBetween,
  rowsContaining,
  SEQUENCES,
  type ValueIndex,
} from "./value-index.ts";
import type { ValueIndexes } from "./value-index-cache.ts";

/** Number of parts of the chain whose rows are counted if they are too many to be sorted. */
const PARTS = 1_000;

/** Rows identified by their positions in the chain. */
export class PositionList {
  readonly totalCount: number;
  readonly #height: number;
  /** If the rows are too many to be sorted, only entries by height are kept, which use less memory. */
  readonly #rows: { readonly groups: readonly Float64Array[] } | { readonly entries: readonly HeightEntry[] };

  constructor({ height }: Head, groups: readonly Float64Array[]) {
    this.totalCount = groups.reduce((sum, { length }) => sum + length, 0);
    this.#height = height;
    this.#rows = this.totalCount > MAX_SORTED ? { entries: entriesOf(height, groups) } : { groups };
  }

  /** Positions of the rows; undefined if they are too many to be looked up one by one. */
  get positions(): readonly number[] | undefined {
    if (!("groups" in this.#rows) || this.totalCount > MAX_LOOKED_UP) return undefined;
    return this.#rows.groups.flatMap((rows) => [...rows]);
  }

  /** Numbers of rows up to certain heights. */
  get entries(): readonly HeightEntry[] {
    return "groups" in this.#rows ? entriesOf(this.#height, this.#rows.groups) : this.#rows.entries;
  }

  /** Returns a page in the order of the chain; undefined if the rows are too many to be sorted. */
  page(order: readonly OrderTerm[], range: Range): PositionPage | undefined {
    return "groups" in this.#rows
      ? pageByPosition(this.#rows.groups, this.totalCount, order, range)
      : undefined;
  }
}

/** Counts the rows up to certain heights. */
function entriesOf(height: number, groups: readonly Float64Array[]): HeightEntry[] {
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

type PositionListDependencies = {
  readonly database: Database;
  readonly chunks: Chunks;
  /** Absent: no value index is built. */
  readonly valueIndexes?: Pick<ValueIndexes, "find"> | undefined;
  readonly storedCounts: StoredCounts;
  readonly incrementalCounts: IncrementalCounts;
  /** Minimum number of rows for which a value index is built. */
  readonly minIndexedRows: number;
};

const ALL = accessPathsOf({ conditions: [] });
/** Maximum number of frequent values whose lists are cached until the next block: 50 kB each. */
const MAX_KEPT = 20;

export class PositionLists {
  readonly #deps: PositionListDependencies;
  /** Each block replaces the value indexes. */
  readonly #kept = new WeakMap<ValueIndex, LRUCache<string, PositionList>>();

  constructor(deps: PositionListDependencies) {
    this.#deps = deps;
  }

  /** Returns all rows of a query if they are identified by their positions; otherwise undefined. */
  find(head: Head, { selection, values, indexed }: PositionQuery): PositionList | undefined {
    const { database, storedCounts, minIndexedRows } = this.#deps;
    if (storedCounts.upTo(head.height) < minIndexedRows) return undefined;
    const { conditions, alternatives = [] } = selection;
    // The most selective condition on a value.
    const [list] = values
      .flatMap((condition) => this.#listByValue(head, condition) ?? [])
      .sort((a, b) => a.totalCount - b.totalCount);
    const positions = list?.positions ?? this.#lookedUp(head, indexed);
    // The list has exactly the rows of the query, or a superset.
    if (alternatives.length === 0 && conditions.length === 1) return list;
    if (!positions) return undefined;
    const tests = [...conditions, ...(alternatives.length > 0 ? [anyOf(alternatives)] : [])];
    return new PositionList(head, [passing(database, positions, tests)]);
  }

  /** Returns the rows that meet a condition; undefined while no value index exists. */
  #listByValue(head: Head, { column, kind, value }: ValueCondition): PositionList | undefined {
    const valueIndex = this.#deps.valueIndexes?.find(head, { column, kind, paths: ALL });
    if (!valueIndex) return undefined;
    const known = this.#kept.get(valueIndex) ?? new LRUCache({ max: MAX_KEPT });
    this.#kept.set(valueIndex, known);
    const name = JSON.stringify(value);
    const before = known.get(name);
    if (before) return before;
    const groups =
      kind === "text"
        ? rowsContaining(valueIndex, `${value}`)
        : rowsBetween(valueIndex, ...endsOf(kind, value));
    const list = new PositionList(head, groups);
    if (list.totalCount > MAX_SORTED) known.set(name, list);
    return list;
  }

  /** Returns the rows of the most selective index, if each condition alone finds too many rows to sort but few meet all. */
  #lookedUp(head: Head, indexed: readonly AccessPaths[]): readonly number[] | undefined {
    if (indexed.length < 2) return undefined;
    const { database, chunks, incrementalCounts } = this.#deps;
    const [fewest] = indexed
      .map((paths) => ({ paths, count: incrementalCounts.count(head, paths).totalCount }))
      .sort((a, b) => a.count - b.count);
    return !fewest || fewest.count > MAX_LOOKED_UP ? undefined : positionsOf(database, chunks, fewest.paths);
  }
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
function positionsOf(database: Database, chunks: Chunks, paths: AccessPaths): readonly number[] {
  const positions: number[] = [];
  for (const chunk of chunks.of(TRANSACTIONS, paths, "asc")) {
    const rows = database.prepare<{ position: number }>(
      `SELECT height * ${SEQUENCES} + sequence AS position FROM (${keysText(TRANSACTIONS, chunk.paths)})`,
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
