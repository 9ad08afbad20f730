/** Lists of transactions; the cost of a page depends neither on its offset nor on the number of transactions. */
import { present } from "../../../platform/present.ts";
import type { Direction, Found, Range } from "../../page.ts";
import type { Head } from "../../port.ts";
import type { Heights } from "../../sql.ts";
import { accessPathsOf, type Selection, scanOf } from "./access-paths.ts";
import { betweenHeights } from "./conditions.ts";
import type { CountCache, IncrementalCount, IncrementalCounts, StoredCounts } from "./count-cache.ts";
import type { Start } from "./offset-cache.ts";
import { type Collection, findPage, type ListQuery, type PlannerOptions } from "./planner.ts";
import type { PositionList, PositionLists, PositionQuery } from "./position-list.ts";
import { isAt, pageByValue, type RowsAt } from "./position-page.ts";
import type { IndexScan, TimeBoxedScan } from "./scans.ts";
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

/** Plans that read rows with the columns of a list. */
type RowReaders<Row> = {
  readonly indexScan: IndexScan<Row>;
  readonly timeBoxedScan: TimeBoxedScan<Row>;
  readonly rowsAt: RowsAt<Row>;
};

/** The listed table and its key. */
export const TRANSACTIONS = { table: "transactions", key: ["height", "sequence"] } as const;

type TransactionListDependencies = PlannerOptions & {
  readonly storedCounts: StoredCounts;
  readonly incrementalCount: IncrementalCounts;
  readonly count: CountCache;
  readonly positionLists: PositionLists;
  readonly valueIndexes: ValueIndexes;
};

/** Creates a function that returns a page of transactions. @throws {CursorError | SnapshotError} */
export function createTransactionList(deps: TransactionListDependencies) {
  return <Row>(readers: RowReaders<Row>, head: Head, query: TransactionQuery, range: Range): Found<Row> => {
    const { selection, by, filter } = query;
    const scan = scanOf(TRANSACTIONS, selection);
    const listQuery: ListQuery = {
      collection: "transactions",
      filter,
      isInOrder: !by,
      scan,
      offset: range.offset,
      isAfter: range.after !== undefined,
    };
    const page: Page<Row> = { deps, readers, head, query, range, isBounded: scan === "bounded" };
    return findPage(listQuery, {}, deps, { statistics: statisticsOf(page), plans: plansOf(page) });
  };
}

/** A requested page, and what was read for it so far. */
type Page<Row> = {
  readonly deps: TransactionListDependencies;
  readonly readers: RowReaders<Row>;
  readonly head: Head;
  readonly query: TransactionQuery;
  readonly range: Range;
  /** True if an index finds only the rows up to the end of the page, or few. */
  readonly isBounded: boolean;
  list?: PositionList | undefined;
  incrementalCount?: IncrementalCount;
  valueIndex?: ValueIndex | undefined;
};

const statisticsOf = <Row>(page: Page<Row>): Collection<Row>["statistics"] => ({
  positions() {
    page.list = page.deps.positionLists(page.head, page.query);
    return { positions: page.list?.count ?? "unknown" };
  },
  rows: () => ({ rows: countRows(page) }),
  hasValueIndex() {
    const { deps, head, query } = page;
    const { by, selection } = query;
    page.valueIndex = by && deps.valueIndexes.find(head, { ...by, paths: accessPathsOf(selection) });
    return { hasValueIndex: page.valueIndex !== undefined };
  },
});

function plansOf<Row>(page: Page<Row>): Collection<Row>["plans"] {
  const { deps, readers, head, query, range } = page;
  const { indexScan, timeBoxedScan, rowsAt } = readers;
  const { selection, by, heights } = query;
  const { order } = selection;
  return {
    "index scan": (totalCount) =>
      indexScan(selection, range, { totalCount, isInOrder: heights !== undefined && !by }),
    ...(heights && {
      "row number"(totalCount: number) {
        const { offset, from } = startOfTransactions(deps.storedCounts, head, heights, query, range.offset);
        const all = { conditions: [], order };
        return indexScan(all, { ...range, offset }, { totalCount, from, isInOrder: true });
      },
    }),
    "offset cache": (totalCount) => findByOffset(page, totalCount),
    "time-boxed scan": (totalCount) => timeBoxedScan(selection, range, { totalCount }),
    ...(by && {
      "value index"() {
        const valueIndex = present(page.valueIndex, "the value index of the plan");
        return rowsAt(pageByValue(valueIndex, by.kind, order, range), order, range.isWalk);
      },
    }),
    "position list": () => findByPositions(page),
  };
}

function findByOffset<Row>(page: Page<Row>, totalCount: number): Found<Row> {
  const { readers, query, range, isBounded, list } = page;
  const { selection, direction, values } = query;
  const start =
    range.after === undefined
      ? (list ?? incrementalCountOf(page)).startOf(direction, range.offset)
      : undefined;
  const [value] = values;
  const scanned = list && value ? { conditions: [value.test], order: selection.order } : selection;
  const scan = list || !isBounded ? readers.timeBoxedScan : readers.indexScan;
  return scan(scanned, { ...range, offset: start?.offset ?? 0 }, { totalCount, from: start?.from });
}

function findByPositions<Row>({ readers, query, range, ...page }: Page<Row>): Found<Row> {
  const { order } = query.selection;
  const list = present(page.list, "the position list of the plan");
  if (query.by) {
    const positions = present(list.positions, "the positions of a short list");
    return readers.indexScan({ conditions: [isAt(positions)], order }, range, { totalCount: list.count });
  }
  return readers.rowsAt(present(list.page(order, range), "the page of a short list"), order, range.isWalk);
}

function countRows<Row>(page: Page<Row>): number {
  const { deps, head, query, list } = page;
  const { heights, typesTotal, filter, selection } = query;
  if (heights) return deps.storedCounts.between(heights);
  const known = list?.count ?? typesTotal;
  if (known !== undefined) return known;
  return filter === "blocks"
    ? deps.count(head, accessPathsOf(selection))
    : incrementalCountOf(page).totalCount;
}

function incrementalCountOf<Row>(page: Page<Row>): IncrementalCount {
  const { deps, head, query } = page;
  page.incrementalCount ??= deps.incrementalCount(head, accessPathsOf(query.selection));
  return page.incrementalCount;
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
