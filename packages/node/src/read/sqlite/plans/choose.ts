/** Which plan finds a page. The choice depends on what is asked and on counts only: nothing is read here. */

/** How a page is found. Each plan has a file in this folder, whose header says what it costs. */
export type Plan = "none" | "row" | "index" | "stretches" | "count" | "ranking" | "match";

export type Asked = {
  readonly collection: "blocks" | "transactions" | "wallets" | "tokens";
  /**
   * What leaves rows out: nothing; nothing but heights; tests that leave a few blocks or depend on the head (`blocks`); or
   * values of columns.
   */
  readonly filter: "none" | "heights" | "blocks" | "values";
  /** Whether the rows are stored in the requested order: by their position in the chain, or by an index of all of them. */
  readonly isInOrder: boolean;
  /**
   * Rows that an index finds: no more than those of the page and before it, or few (`bounded`); all that are asked for,
   * to be sorted (`sorted`); or others too, to be tested one by one (`tested`).
   */
  readonly scan: "bounded" | "sorted" | "tested";
  /** Rows before the page, where it does not begin after a cursor. */
  readonly offset: number;
  readonly isAfter: boolean;
};

/** What is known so far; absent members were not determined. */
export type Known = {
  /** Rows of all pages. */
  readonly total?: number;
  /** Rows known by their positions: all that are asked for, or all that an index or a ranking finds of them, tested. */
  readonly matches?: number | "unknown";
  /** Whether a ranking in memory has the requested order. */
  readonly isRanked?: boolean;
};

/** What must be learned before a plan can be chosen. */
export type Question = "total" | "matches" | "ranking";

export type Choice = { readonly plan: Plan } | { readonly learn: Question };

export type Bounds = {
  /** Rows from which on a ranking is worth its memory. */
  readonly minRanked: number;
};

/**
 * Rows that are sorted in some milliseconds: the first by their positions, or as an index finds them, the second by a value, each
 * row looked up.
 */
export const MAX_SORTED = 20_000;
export const MAX_LOOKED_UP = 2_000;
/** Rows of a small table (wallets, uniks) that one statement sorts by a value of each in the time that a list has, about 50 ms. */
export const MAX_SORTED_OF_TABLE = 120_000;
/** Offset from which on transactions are not walked over one by one. */
export const FAR = 200;
/** The same for rows that an index has in their order. */
export const FAR_IN_INDEX = 1_000;

export function choosePlan(asked: Asked, known: Known, { minRanked }: Bounds): Choice {
  const { collection, filter, isInOrder, offset, isAfter } = asked;
  const isOfHeights = filter === "none" || filter === "heights";
  // Blocks are numbered without gaps: nothing is to be counted.
  if (collection === "blocks" && isOfHeights && isInOrder && !isAfter) return { plan: "row" };
  const isTransactions = collection === "transactions";
  if (isTransactions && filter === "values") {
    const { matches } = known;
    if (matches === undefined) return { learn: "matches" };
    if (matches !== "unknown" && matches <= (isInOrder ? MAX_SORTED : MAX_LOOKED_UP))
      return { plan: "match" };
  }
  const { total } = known;
  if (total === undefined) return { learn: "total" };
  if (offset >= total && !isAfter) return { plan: "none" };
  const walk: Choice = { plan: isAtOnce(asked, total) ? "index" : "stretches" };
  if (!isTransactions) {
    const isFar = filter === "none" && isInOrder && offset >= FAR_IN_INDEX;
    return isFar ? { plan: "count" } : walk;
  }
  if (isInOrder && isOfHeights) return { plan: offset >= FAR ? "row" : "index" };
  // A few blocks are sorted, and a ranking of all rows does not help.
  if (filter === "heights" || filter === "blocks") return walk;
  if (isInOrder) {
    // What nearly all rows have is found along the chain rather than by the index of a value.
    const isAlongTheChain = known.matches !== undefined && known.matches !== "unknown";
    return isAlongTheChain || offset >= FAR ? { plan: "count" } : walk;
  }
  if (total < minRanked) return walk;
  if (known.isRanked === undefined) return { learn: "ranking" };
  return known.isRanked ? { plan: "ranking" } : walk;
}

/** Whether one statement may read all rows that have to be read. */
function isAtOnce({ scan, collection }: Asked, total: number): boolean {
  const isSmall = collection === "wallets" || collection === "tokens";
  return scan === "bounded" || (scan === "sorted" && total <= (isSmall ? MAX_SORTED_OF_TABLE : MAX_SORTED));
}
