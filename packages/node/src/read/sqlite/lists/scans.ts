/**
 * Plan "index scan": one statement reads rows in the order of an index from the earliest start of the page, or sorts the few rows that
 * an index finds. Costs the rows from that start to the end of the page if an index has the order, otherwise all rows that are
 * found.
 *
 * Plan "time-boxed scan": rows that are tested one by one, or are too many to be sorted at once, are read in chunks
 * (`lists/time-box.ts`), keeping the first rows seen so far. Costs all rows that an index finds, or only those up to the end of
 * the page if the index has them in order; fails if the time is up.
 */
import { present } from "../../../platform/present.ts";
import type { Database } from "../../../store/engine/database.ts";
import { cursorAt } from "../../cursor.ts";
import type { Found, Range } from "../../page.ts";
import {
  type AccessPaths,
  accessPathsOf,
  createStatementCache,
  fromText,
  inRange,
  isInOrder,
  type ListedTable,
  named,
  nameOf,
  orderText,
  pageText,
  rowsText,
  type Selection,
  sideBefore,
  sortedByOf,
  valuesOf,
  withResidual,
} from "./access-paths.ts";
import type { Condition } from "./conditions.ts";
import {
  after,
  before,
  comparerOf,
  cursorFrom,
  type OrderTerm,
  type OrderValues,
  valuesText,
} from "./keyset-cursor.ts";
import { type ChunksOf, createTimeoutCache } from "./time-box.ts";

type ScanOptions = {
  readonly totalCount: number;
  /** Excludes rows that the offset would skip; the range has the remaining offset. A cursor in the range has precedence. */
  readonly from?: Condition | undefined;
  /** True if an index has the rows in order, so that they are not sorted. */
  readonly isInOrder?: boolean;
};

/** @throws {CursorError} */
export type IndexScan<Row> = (selection: Selection, range: Range, options: ScanOptions) => Found<Row>;

/** Up to this number, whole rows are read and skipped; beyond it, only their keys. */
const NEAR = 100;

export function createIndexScan<Row>(database: Database, listed: ListedTable): IndexScan<Row> {
  const { table, key, columns, joins = "" } = listed;
  const prepare = createStatementCache(database);

  return (selection, range, { totalCount, from, isInOrder = false }) => {
    const { order } = selection;
    const { limit, isWalk = false } = range;
    const offset = range.after === undefined ? range.offset : 0;
    const paths = inRange(accessPathsOf(selection), startOf(selection, range, from));
    const values = valuesOf(paths);
    const [only, ...others] = paths;
    if (isInOrder && offset < NEAR && !isWalk && only && others.length === 0) {
      const select = prepare(
        `SELECT ${columns} ${fromText(listed, only, joins)} ORDER BY ${orderText(order)} LIMIT +? OFFSET +?`,
      );
      return { rows: select.all(...values, limit, offset) as Row[], totalCount };
    }
    const { text, names } = pageText(listed, paths, order);
    const paged = names.map((name) => `page.${name}`);
    const walked = isWalk ? `, ${valuesText(paged)} AS "values"` : "";
    // Select the keys of the page first: whole rows are neither skipped nor sorted.
    const select = prepare(
      `SELECT ${columns}${walked} FROM (${text}) AS page
       CROSS JOIN ${table} USING (${key.join()}) ${joins} ORDER BY ${orderText(order)}`,
    );
    if (!isWalk) return { rows: select.all(...values, limit, offset) as Row[], totalCount };
    // Selects one more row than requested, which shows whether others follow.
    const rows = select.all(...values, limit + 1, offset) as (Row & { values: string })[];
    if (rows.length <= limit) return { rows, totalCount };
    const shown = rows.slice(0, limit);
    const last = present(shown.at(-1), "the last row of a page");
    return { rows: shown, totalCount, next: cursorFrom(order, last.values) };
  };
}

/** Returns where a page starts: after its cursor, or at the first row that is not excluded. */
const startOf = (
  { order }: Selection,
  { after: cursor }: Range,
  from: Condition | undefined,
): Condition | undefined => (cursor === undefined ? from : after(order, cursor));

/** @throws {CursorError | SnapshotError} */
export type TimeBoxedScan<Row> = IndexScan<Row>;

type TimeBoxedScanDependencies<Row> = {
  readonly chunksOf: ChunksOf;
  /** Reads the page if the first chunk has all rows. */
  readonly indexScan: IndexScan<Row>;
};

export function createTimeBoxedScan<Row>(
  database: Database,
  listed: ListedTable,
  { chunksOf, indexScan }: TimeBoxedScanDependencies<Row>,
): TimeBoxedScan<Row> {
  const reader: Reader = {
    listed,
    chunksOf,
    prepare: createStatementCache(database),
    // Integers beyond 2^53 must stay exact.
    prepareValues: createStatementCache(database, { bigints: true, arrays: true }),
  };
  const unlessTimedOut = createTimeoutCache();
  return (selection, range, options) =>
    unlessTimedOut(
      () => nameOf(listed, selection),
      () => scan(reader, selection, range, options) ?? indexScan(selection, range, options),
    );
}

/** Reads the rows of a table. */
type Reader = {
  readonly listed: ListedTable;
  readonly chunksOf: ChunksOf;
  readonly prepare: ReturnType<typeof createStatementCache>;
  readonly prepareValues: ReturnType<typeof createStatementCache>;
};

/** Returns a page; undefined if one chunk has all rows. */
function scan<Row>(
  reader: Reader,
  selection: Selection,
  range: Range,
  { totalCount, from }: ScanOptions,
): Found<Row> | undefined {
  const { order } = selection;
  const { limit, isWalk = false } = range;
  const offset = range.after === undefined ? range.offset : 0;
  // Selects one more row than requested, which shows whether others follow.
  const count = offset + limit + (isWalk ? 1 : 0);
  const first = firstRows(reader, selection, startOf(selection, range, from), count);
  if (!first) return undefined;
  const shown = first.slice(offset, offset + limit);
  const last = isWalk && first.length >= count ? shown.at(-1) : undefined;
  return {
    rows: rowsAt<Row>(reader, shown, order),
    totalCount,
    ...(last && { next: cursorAt(order, last) }),
  };
}

/** Returns the order values of the first `count` rows; undefined if one chunk has all rows. */
function firstRows(
  reader: Reader,
  selection: Selection,
  start: Condition | undefined,
  count: number,
): readonly OrderValues[] | undefined {
  const { listed, chunksOf } = reader;
  const { order } = selection;
  const compare = comparerOf(order);
  const firstOf = (rows: readonly OrderValues[]) => rows.toSorted(compare).slice(0, count);
  const all = accessPathsOf(selection);
  const isOrdered = isInOrder(sortedByOf(listed, all), order);
  const { direction } = present(order[0], "the order of a page");
  const left = isOrdered ? inRange(all, start, sideBefore(direction)) : withResidual(all, start);
  let rows: readonly OrderValues[] = [];
  let last: Condition | undefined;
  for (const chunk of chunksOf(listed, left, isOrdered ? direction : "asc")) {
    if (chunk.isAll) return undefined;
    if (isOrdered) {
      rows = rows.concat(firstRowsOf(reader, chunk.paths, order, count - rows.length));
      if (rows.length === count) return rows;
      continue;
    }
    rows = rows.concat(rowsOf(reader, withResidual(chunk.paths, last), order));
    if (rows.length >= 2 * count) {
      rows = firstOf(rows);
      const end = rows.at(-1);
      last = end && before(order, end);
    }
  }
  return isOrdered ? rows : firstOf(rows);
}

/** Returns the order values of all rows, unsorted. */
function rowsOf(
  { listed, prepareValues }: Reader,
  paths: AccessPaths,
  order: readonly OrderTerm[],
): OrderValues[] {
  const { text, names } = rowsText(listed, paths, order);
  const select = prepareValues(`SELECT ${names.join()} FROM (${text})`);
  return select.all(...valuesOf(paths)) as OrderValues[];
}

/** Returns the order values of the first rows, if an index has the order apart from ties in its first term. */
function firstRowsOf(
  { listed, prepareValues }: Reader,
  paths: AccessPaths,
  order: readonly OrderTerm[],
  limit: number,
): OrderValues[] {
  const { text, names } = pageText(listed, paths, order);
  const select = prepareValues(
    `SELECT ${names.join()} FROM (${text}) ORDER BY ${orderText(named(order, names))}`,
  );
  return select.all(...valuesOf(paths), limit, 0) as OrderValues[];
}

function rowsAt<Row>(
  { listed, prepare }: Reader,
  rows: readonly OrderValues[],
  order: readonly OrderTerm[],
): Row[] {
  const { table, key, columns, joins = "" } = listed;
  const indexes = key.map((column) => order.findIndex(({ value }) => value === column));
  const members = key.map((column, index) => `json_extract(value, '$[${index}]') AS ${column}`);
  // Integers of keys are far below 2^53.
  const keys = rows.map((values) =>
    indexes.map((index) => {
      const value = values[index];
      return typeof value === "bigint" ? Number(value) : value;
    }),
  );
  const select = prepare(
    `SELECT ${columns} FROM (SELECT key AS position, ${members.join()} FROM json_each(?)) AS page
     CROSS JOIN ${table} USING (${key.join()}) ${joins} ORDER BY position`,
  );
  return select.all(JSON.stringify(keys)) as Row[];
}
