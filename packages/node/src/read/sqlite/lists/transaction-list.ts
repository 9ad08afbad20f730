/** Lists of transactions; the cost of a page depends neither on its offset nor on the number of transactions. */
import { present } from "../../../platform/present.ts";
import type { Direction, Found, Range } from "../../page.ts";
import type { Head } from "../../port.ts";
import type { Heights } from "../../sql.ts";
import { accessPathsOf, type Selection, scanOf, TRANSACTIONS } from "./access-paths.ts";
import { betweenHeights } from "./conditions.ts";
import {
  type CountCache,
  type IncrementalCount,
  type IncrementalCounts,
  type Start,
  type StoredCounts,
  startAt,
} from "./count-cache.ts";
import { choosePlan, type ListQuery, type PlannerOptions, type Statistics } from "./planner.ts";
import type { PositionList, PositionLists, PositionQuery } from "./position-list.ts";
import { isAt, type PositionReader, pageByValue } from "./position-page.ts";
import type { Scans } from "./scans.ts";
import type { Kind, ValueIndex } from "./value-index.ts";
import type { ValueIndexes } from "./value-index-cache.ts";

/** A query for transactions. */
export type TransactionQuery = Pick<ListQuery, "filter"> &
  PositionQuery & {
    readonly selection: Selection;
    /** Column that orders them before their position in the chain; absent: position only. */
    readonly by?: { readonly column: string; readonly kind: Kind };
    readonly direction: Direction;
    /** Direction of the transactions of one block. */
    readonly sequence: Direction;
    /** Set if the query is for all transactions between two heights. */
    readonly heights?: Heights;
    /** Stored number of rows, if the filter has only types. */
    readonly typesTotal: number | undefined;
  };

/** Counts and indexes of transactions, which lists with different columns share. */
type TransactionIndexes = PlannerOptions & {
  readonly storedCounts: StoredCounts;
  readonly incrementalCounts: IncrementalCounts;
  readonly counts: CountCache;
  readonly positionLists: PositionLists;
  /** Absent: no value index is built. */
  readonly valueIndexes?: Pick<ValueIndexes, "find"> | undefined;
};

/** A page of a list, and the plans that read rows with the columns of the list. */
type PageRequest<Row> = {
  readonly scans: Scans<Row>;
  readonly positions: PositionReader<Row>;
  readonly head: Head;
  readonly query: TransactionQuery;
  readonly range: Range;
};

/** A requested page, and what was read for it so far. */
export class TransactionPage<Row> implements Statistics {
  readonly #indexes: TransactionIndexes;
  readonly #request: PageRequest<Row>;
  readonly #list: PositionList | undefined;
  #rows: number | undefined;
  #incremental: IncrementalCount | undefined;
  #valueIndex: ValueIndex | undefined;

  constructor(indexes: TransactionIndexes, request: PageRequest<Row>) {
    this.#indexes = indexes;
    this.#request = request;
    const { head, query } = request;
    this.#list = query.filter === "values" ? indexes.positionLists.find(head, query) : undefined;
  }

  /** @throws {CursorError | SnapshotError} */
  find(): Found<Row> {
    const { scans, query, range } = this.#request;
    const { selection, by, filter, heights } = query;
    const scan = scanOf(TRANSACTIONS, selection);
    const { offset, after } = range;
    const plan = choosePlan(
      { collection: "transactions", filter, isInOrder: !by, scan, offset, isAfter: after !== undefined },
      this,
      this.#indexes.minIndexedRows,
    );
    this.#indexes.onPlan?.(plan);
    switch (plan) {
      case "empty":
        return { rows: [], totalCount: this.rows };
      case "index scan":
        return scans.byIndex(selection, range, {
          totalCount: this.rows,
          isInOrder: heights !== undefined && !by,
        });
      case "row number":
        return this.#byRowNumber(present(heights, "the heights of the plan"));
      case "offset cache":
        return this.#byOffset(scan === "bounded");
      case "time-boxed scan":
        return scans.inTime(selection, range, { totalCount: this.rows });
      case "value index":
        return this.#byValue(present(by, "the column of the plan").kind);
      case "position list":
        return this.#byPositions(present(this.#list, "the position list of the plan"));
    }
  }

  get positions(): number | undefined {
    return this.#list?.totalCount;
  }

  get rows(): number {
    this.#rows ??= this.#countRows();
    return this.#rows;
  }

  get hasValueIndex(): boolean {
    const { head, query } = this.#request;
    const definition = query.by && { ...query.by, paths: accessPathsOf(query.selection) };
    this.#valueIndex = definition && this.#indexes.valueIndexes?.find(head, definition);
    return this.#valueIndex !== undefined;
  }

  #countRows(): number {
    const { head, query } = this.#request;
    const { heights, typesTotal, filter, selection } = query;
    const { storedCounts, counts } = this.#indexes;
    if (heights) return storedCounts.between(heights);
    const known = this.#list?.totalCount ?? typesTotal;
    if (known !== undefined) return known;
    return filter === "blocks"
      ? counts.count(head, accessPathsOf(selection))
      : this.#countIncrementally().totalCount;
  }

  #countIncrementally(): IncrementalCount {
    const { head, query } = this.#request;
    this.#incremental ??= this.#indexes.incrementalCounts.count(head, accessPathsOf(query.selection));
    return this.#incremental;
  }

  #byRowNumber(heights: Heights): Found<Row> {
    const { scans, head, query, range } = this.#request;
    const { offset, from } = startOfTransactions(
      this.#indexes.storedCounts,
      head,
      heights,
      query,
      range.offset,
    );
    const all = { conditions: [], order: query.selection.order };
    return scans.byIndex(all, { ...range, offset }, { totalCount: this.rows, from, isInOrder: true });
  }

  /** @param isBounded true if an index finds only the rows up to the end of the page, or few */
  #byOffset(isBounded: boolean): Found<Row> {
    const { scans, query, range } = this.#request;
    const { selection, values } = query;
    const { offset, from } = range.after === undefined ? this.#startByEntries() : { offset: 0 };
    const rest = { ...range, offset };
    const options = { totalCount: this.rows, from };
    if (!this.#list && isBounded) return scans.byIndex(selection, rest, options);
    const [value] = values;
    const tested = this.#list && value ? { conditions: [value.test], order: selection.order } : selection;
    return scans.inTime(tested, rest, options);
  }

  #startByEntries(): Start {
    const { query, range } = this.#request;
    const { totalCount, entries } = this.#list ?? this.#countIncrementally();
    return startAt(entries, totalCount, query.direction, range.offset);
  }

  #byValue(kind: Kind): Found<Row> {
    const { positions, query, range } = this.#request;
    const { order } = query.selection;
    const valueIndex = present(this.#valueIndex, "the value index of the plan");
    return positions.rowsOf(pageByValue(valueIndex, kind, order, range), order, range.isWalk);
  }

  #byPositions(list: PositionList): Found<Row> {
    const { scans, positions, query, range } = this.#request;
    const { order } = query.selection;
    if (query.by) {
      const found = isAt(present(list.positions, "the positions of a short list"));
      return scans.byIndex({ conditions: [found], order }, range, { totalCount: list.totalCount });
    }
    return positions.rowsOf(
      present(list.page(order, range), "the page of a short list"),
      order,
      range.isWalk,
    );
  }
}

/** Transactions of one block are in the order of their sequence, or reversed. */
type ChainOrder = { readonly direction: Direction; readonly sequence: Direction };

/**
 * Returns where a page of all transactions between two heights starts, and the remaining offset from there: each block stores the
 * number of transactions up to it. Costs twenty index lookups to find a block.
 */
function startOfTransactions(
  storedCounts: StoredCounts,
  head: Head,
  { low, high }: Heights,
  { direction, sequence }: ChainOrder,
  offset: number,
): Start {
  if (direction === "asc") {
    const above = storedCounts.upTo(low - 1) + offset;
    const height = storedCounts.heightOf(above + 1, head);
    return { offset: above - storedCounts.upTo(height - 1), from: betweenHeights({ low: height, high }) };
  }
  const below = storedCounts.upTo(high) - offset;
  const height = storedCounts.heightOf(below, head);
  if (sequence === "asc") {
    return { offset: storedCounts.upTo(height) - below, from: betweenHeights({ low, high: height }) };
  }
  const last = below - storedCounts.upTo(height - 1) - 1;
  return {
    offset: 0,
    from: { sql: "(height, sequence) <= (?, ?) AND height >= ?", values: [height, last, low] },
  };
}
