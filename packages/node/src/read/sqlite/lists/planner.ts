/**
 * Planner: chooses the plan that finds a page (docs/list-queries.md). The choice is a pure function of the query and of statistics,
 * each of which is read only if the choice depends on it.
 */
import type { Scan } from "./access-paths.ts";

/** Plan that finds a page. The file of each plan in this folder states its cost. */
export type Plan =
  | "empty"
  | "row number"
  | "index scan"
  | "time-boxed scan"
  | "offset cache"
  | "value index"
  | "position list";

export type ListQuery = {
  readonly collection: "balances" | "blocks" | "transactions" | "wallets" | "tokens";
  /**
   * Kind of filter: none; heights only; conditions that match few blocks or depend on the head (`blocks`); or values of
   * columns.
   */
  readonly filter: "none" | "heights" | "blocks" | "values";
  /** True if the rows are stored in the requested order: by their position in the chain, or by an index of all rows. */
  readonly isInOrder: boolean;
  readonly scan: Scan;
  /** Number of rows before the page, unless it starts after a cursor. */
  readonly offset: number;
  readonly isAfter: boolean;
};

/** Statistics of the list, which getters can gather. */
export type Statistics = {
  /** Number of rows of all pages. */
  readonly rows: number;
  /** Number of rows identified by their positions; undefined if neither an index nor a value index found them. */
  readonly positions?: number | undefined;
  /** True if a value index in memory has the requested order. */
  readonly hasValueIndex?: boolean;
};

export type PlannerOptions = {
  /** Minimum number of rows for which a value index is built. */
  readonly minIndexedRows: number;
  /** Called with the plan of each page. */
  readonly onPlan?: ((plan: Plan) => void) | undefined;
};

/**
 * Maximum number of rows to sort, which takes some milliseconds: by their positions or as an index finds them, and by a value
 * for which each row is looked up.
 */
export const MAX_SORTED = 20_000;
export const MAX_LOOKED_UP = 2_000;
/** Rows of a small table (wallets, uniks) that one statement sorts by a value within the time of a list, about 50 ms. */
export const MAX_SORTED_OF_TABLE = 120_000;
/** Offset beyond which skipping transactions one by one is too slow. */
export const FAR = 200;
/** The limit `FAR` for rows that an index has in order. */
export const FAR_IN_INDEX = 1_000;

/** Blocks in the order of their heights have no plan: they are numbered without gaps (`tables/blocks.ts`). */
export function choosePlan(query: ListQuery, statistics: Statistics, minIndexedRows: number): Plan {
  const { collection, filter, isInOrder, offset, isAfter } = query;
  const isTransactions = collection === "transactions";
  if (isTransactions && filter === "values") {
    const { positions } = statistics;
    if (positions !== undefined && positions <= (isInOrder ? MAX_SORTED : MAX_LOOKED_UP))
      return "position list";
  }
  const { rows } = statistics;
  if (offset >= rows && !isAfter) return "empty";
  const scan = isAtOnce(query, rows) ? "index scan" : "time-boxed scan";
  if (!isTransactions) {
    const isFar = filter === "none" && isInOrder && offset >= FAR_IN_INDEX;
    return isFar ? "offset cache" : scan;
  }
  const isOfHeights = filter === "none" || filter === "heights";
  if (isInOrder && isOfHeights) return offset >= FAR ? "row number" : "index scan";
  // A few blocks are sorted, and a value index of all rows does not help.
  if (filter === "heights" || filter === "blocks") return scan;
  if (isInOrder) {
    // Values that nearly all rows have are found along the chain rather than by the index of the value.
    return statistics.positions !== undefined || offset >= FAR ? "offset cache" : scan;
  }
  if (rows < minIndexedRows) return scan;
  return statistics.hasValueIndex ? "value index" : scan;
}

/** Returns whether one statement can read all rows that must be read. */
function isAtOnce({ scan, collection }: ListQuery, rows: number): boolean {
  const isSmall = collection === "wallets" || collection === "tokens";
  return scan === "bounded" || (scan === "sorted" && rows <= (isSmall ? MAX_SORTED_OF_TABLE : MAX_SORTED));
}
