/**
 * Planner: chooses the plan that finds a page, then runs it (docs/list-queries.md). The choice is a pure function of the query and of
 * statistics, which are gathered one by one, only if the choice depends on them.
 */
import { present } from "../../../platform/present.ts";
import type { Found } from "../../page.ts";
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

/** Statistics of the list; absent members are not known yet. */
export type Statistics = {
  /** Number of rows of all pages. */
  readonly rows?: number;
  /** Number of rows identified by their positions, if an index or a value index found them. */
  readonly positions?: number | "unknown";
  /** True if a value index in memory has the requested order. */
  readonly hasValueIndex?: boolean;
};

type Statistic = keyof Statistics;

export type Choice = { readonly plan: Plan } | { readonly missing: Statistic };

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
export function choosePlan(
  query: ListQuery,
  known: Statistics,
  { minIndexedRows }: Pick<PlannerOptions, "minIndexedRows">,
): Choice {
  const { collection, filter, isInOrder, offset, isAfter } = query;
  const isTransactions = collection === "transactions";
  if (isTransactions && filter === "values") {
    const { positions } = known;
    if (positions === undefined) return { missing: "positions" };
    if (positions !== "unknown" && positions <= (isInOrder ? MAX_SORTED : MAX_LOOKED_UP))
      return { plan: "position list" };
  }
  const { rows } = known;
  if (rows === undefined) return { missing: "rows" };
  if (offset >= rows && !isAfter) return { plan: "empty" };
  const scan: Choice = { plan: isAtOnce(query, rows) ? "index scan" : "time-boxed scan" };
  if (!isTransactions) {
    const isFar = filter === "none" && isInOrder && offset >= FAR_IN_INDEX;
    return isFar ? { plan: "offset cache" } : scan;
  }
  const isOfHeights = filter === "none" || filter === "heights";
  if (isInOrder && isOfHeights) return { plan: offset >= FAR ? "row number" : "index scan" };
  // A few blocks are sorted, and a value index of all rows does not help.
  if (filter === "heights" || filter === "blocks") return scan;
  if (isInOrder) {
    // Values that nearly all rows have are found along the chain rather than by the index of the value.
    const isAlongTheChain = known.positions !== undefined && known.positions !== "unknown";
    return isAlongTheChain || offset >= FAR ? { plan: "offset cache" } : scan;
  }
  if (rows < minIndexedRows) return scan;
  if (known.hasValueIndex === undefined) return { missing: "hasValueIndex" };
  return known.hasValueIndex ? { plan: "value index" } : scan;
}

/** Returns whether one statement can read all rows that must be read. */
function isAtOnce({ scan, collection }: ListQuery, rows: number): boolean {
  const isSmall = collection === "wallets" || collection === "tokens";
  return scan === "bounded" || (scan === "sorted" && rows <= (isSmall ? MAX_SORTED_OF_TABLE : MAX_SORTED));
}

/** Statistics and plans that a collection implements: all that `choosePlan` can name for it. */
export type Collection<Row> = {
  readonly statistics: Readonly<Partial<Record<Statistic, () => Statistics>>>;
  /** `total` is the number of rows of all pages; 0 for plans that are chosen before it is known. */
  readonly plans: Readonly<Partial<Record<Plan, (total: number) => Found<Row>>>>;
};

/** Gathers the statistics on which the choice of a plan depends, then runs the plan. */
export function findPage<Row>(
  query: ListQuery,
  initially: Statistics,
  { minIndexedRows, onPlan }: PlannerOptions,
  { statistics, plans }: Collection<Row>,
): Found<Row> {
  let known = initially;
  for (;;) {
    const choice = choosePlan(query, known, { minIndexedRows });
    if ("missing" in choice) {
      known = { ...known, ...present(statistics[choice.missing], choice.missing)() };
      continue;
    }
    const { plan } = choice;
    onPlan?.(plan);
    const { rows: total = 0 } = known;
    return plan === "empty" ? { rows: [], totalCount: total } : present(plans[plan], `plan ${plan}`)(total);
  }
}
