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
  StatementCache,
  sideBefore,
  sortedByOf,
  valuesOf,
  withResidual,
} from "./access-paths.ts";
import {
  after,
  before,
  type Condition,
  comparerOf,
  cursorFrom,
  type OrderTerm,
  type OrderValues,
  valuesText,
} from "./conditions.ts";
import { type Chunks, TimeoutCache } from "./time-box.ts";

type ScanOptions = {
  readonly totalCount: number;
  /** Excludes rows that the offset would skip; the range has the remaining offset. A cursor in the range has precedence. */
  readonly from?: Condition | undefined;
  /** True if an index has the rows in order, so that they are not sorted. */
  readonly isInOrder?: boolean;
};

/** Up to this number, whole rows are read and skipped; beyond it, only their keys. */
const NEAR = 100;

/** Scans of a table. */
export class Scans<Row> {
  readonly #listed: ListedTable;
  readonly #chunks: Chunks;
  readonly #statements: StatementCache;
  /** Integers beyond 2^53 must stay exact. */
  readonly #valueStatements: StatementCache;
  readonly #timeouts = new TimeoutCache();

  constructor(database: Database, listed: ListedTable, chunks: Chunks) {
    this.#listed = listed;
    this.#chunks = chunks;
    this.#statements = new StatementCache(database);
    this.#valueStatements = new StatementCache(database, { bigints: true, arrays: true });
  }

  /** @throws {CursorError} */
  byIndex(
    selection: Selection,
    range: Range,
    { totalCount, from, isInOrder = false }: ScanOptions,
  ): Found<Row> {
    const { table, key, columns, joins = "" } = this.#listed;
    const { order } = selection;
    const { limit, isWalk = false } = range;
    const offset = range.after === undefined ? range.offset : 0;
    const paths = inRange(accessPathsOf(selection), startOf(selection, range, from));
    const values = valuesOf(paths);
    const [only, ...others] = paths;
    if (isInOrder && offset < NEAR && !isWalk && only && others.length === 0) {
      const rows = fromText(this.#listed, only, joins);
      const select = this.#statements.prepare(
        `SELECT ${columns} ${rows} ORDER BY ${orderText(order)} LIMIT +? OFFSET +?`,
      );
      return { rows: select.all(...values, limit, offset) as Row[], totalCount };
    }
    const { text, names } = pageText(this.#listed, paths, order);
    const paged = names.map((name) => `page.${name}`);
    const walked = isWalk ? `, ${valuesText(paged)} AS "values"` : "";
    // Select the keys of the page first: whole rows are neither skipped nor sorted.
    const select = this.#statements.prepare(
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
  }

  /** @throws {CursorError | SnapshotError} */
  inTime(selection: Selection, range: Range, options: ScanOptions): Found<Row> {
    return this.#timeouts.run(
      () => nameOf(this.#listed, selection),
      () => this.#inChunks(selection, range, options) ?? this.byIndex(selection, range, options),
    );
  }

  /** Returns a page; undefined if one chunk has all rows. */
  #inChunks(selection: Selection, range: Range, { totalCount, from }: ScanOptions): Found<Row> | undefined {
    const { order } = selection;
    const { limit, isWalk = false } = range;
    const offset = range.after === undefined ? Math.max(range.offset, 0) : 0;
    // Selects one more row than requested, which shows whether others follow.
    const count = offset + limit + (isWalk ? 1 : 0);
    const first = this.#firstRows(selection, startOf(selection, range, from), count);
    if (!first) return undefined;
    const shown = first.slice(offset, offset + limit);
    const last = isWalk && first.length >= count ? shown.at(-1) : undefined;
    const rows = this.#rowsAt(shown, order);
    return { rows, totalCount, ...(last && { next: cursorAt(order, last) }) };
  }

  /** Returns the order values of the first `count` rows; undefined if one chunk has all rows. */
  #firstRows(
    selection: Selection,
    start: Condition | undefined,
    count: number,
  ): readonly OrderValues[] | undefined {
    const { order } = selection;
    const compare = comparerOf(order);
    const firstOf = (rows: readonly OrderValues[]) => rows.toSorted(compare).slice(0, count);
    const all = accessPathsOf(selection);
    const isOrdered = isInOrder(sortedByOf(this.#listed, all), order);
    const { direction } = present(order[0], "the order of a page");
    const left = isOrdered ? inRange(all, start, sideBefore(direction)) : withResidual(all, start);
    let rows: readonly OrderValues[] = [];
    let last: Condition | undefined;
    for (const chunk of this.#chunks.of(this.#listed, left, isOrdered ? direction : "asc")) {
      if (chunk.isAll) return undefined;
      if (isOrdered) {
        rows = rows.concat(this.#orderedValues(chunk.paths, order, count - rows.length));
        if (rows.length === count) return rows;
        continue;
      }
      rows = rows.concat(this.#allValues(withResidual(chunk.paths, last), order));
      if (rows.length >= 2 * count) {
        rows = firstOf(rows);
        const end = rows.at(-1);
        last = end && before(order, end);
      }
    }
    return isOrdered ? rows : firstOf(rows);
  }

  /** Returns the order values of all rows, unsorted. */
  #allValues(paths: AccessPaths, order: readonly OrderTerm[]): OrderValues[] {
    const { text, names } = rowsText(this.#listed, paths, order);
    const select = this.#valueStatements.prepare(`SELECT ${names.join()} FROM (${text})`);
    return select.all(...valuesOf(paths)) as OrderValues[];
  }

  /** Returns the order values of the first rows, if an index has the order apart from ties in its first term. */
  #orderedValues(paths: AccessPaths, order: readonly OrderTerm[], limit: number): OrderValues[] {
    const { text, names } = pageText(this.#listed, paths, order);
    const select = this.#valueStatements.prepare(
      `SELECT ${names.join()} FROM (${text}) ORDER BY ${orderText(named(order, names))}`,
    );
    return select.all(...valuesOf(paths), limit, 0) as OrderValues[];
  }

  #rowsAt(rows: readonly OrderValues[], order: readonly OrderTerm[]): Row[] {
    const { table, key, columns, joins = "" } = this.#listed;
    const indexes = key.map((column) => order.findIndex(({ value }) => value === column));
    const members = key.map((column, index) => `json_extract(value, '$[${index}]') AS ${column}`);
    // Integers of keys are far below 2^53.
    const keys = rows.map((values) =>
      indexes.map((index) => {
        const value = values[index];
        return typeof value === "bigint" ? Number(value) : value;
      }),
    );
    const select = this.#statements.prepare(
      `SELECT ${columns} FROM (SELECT key AS position, ${members.join()} FROM json_each(?)) AS page
       CROSS JOIN ${table} USING (${key.join()}) ${joins} ORDER BY position`,
    );
    return select.all(JSON.stringify(keys)) as Row[];
  }
}

/** Returns where a page starts: after its cursor, or at the first row that is not excluded. */
const startOf = (
  { order }: Selection,
  { after: cursor }: Range,
  from: Condition | undefined,
): Condition | undefined => (cursor === undefined ? from : after(order, cursor));
