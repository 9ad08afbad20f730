/** Pages of lists: the requested range, and the rows found; and the integers of filters. */

export type Direction = "asc" | "desc";

/** Decimal text or a whole number. */
export type Integer = string | number;

/** Closed interval; an absent end is unbounded. */
export type Interval = { readonly from?: Integer; readonly to?: Integer };

export type Range = {
  readonly offset: number;
  readonly limit: number;
  /** Value of `next` of an earlier page: the page has the rows after that cursor, and `offset` is ignored. */
  readonly after?: string;
  /** True if the caller needs `next`, the cursor of the last row. */
  readonly isWalk?: boolean;
};

/** Range of the properties of a token: the rows after a key, or from an offset on. */
export type PropertyRange = Pick<Range, "offset" | "limit"> & { readonly afterKey?: string };

export type Found<T> = {
  readonly rows: T[];
  /** Number of rows of all pages. */
  readonly totalCount: number;
  /**
   * Cursor of the last row, if other rows follow (`cursor.ts`): a text of up to 1,536 bytes, the same for all
   * implementations.
   */
  readonly next?: string;
};

/** Closed interval; an absent end is unbounded. */
export type Ends = { readonly low?: bigint; readonly high?: bigint };

/** Integers of filters can exceed the range of databases: signed integers of 64 bits. */
const [MIN, MAX] = [-(2n ** 63n), 2n ** 63n - 1n];

export const isInteger64 = (value: bigint): boolean => value >= MIN && value <= MAX;

/** Returns the ends of a value or an interval without those beyond all stored values; undefined if no stored value is within. */
export function endsOf(wanted: Integer | Interval): Ends | undefined {
  const { from, to } = typeof wanted === "object" ? wanted : { from: wanted, to: wanted };
  const [low, high] = [from, to].map((end) => (end === undefined ? undefined : BigInt(end)));
  if ((low !== undefined && low > MAX) || (high !== undefined && high < MIN)) return undefined;
  return {
    ...(low !== undefined && low >= MIN && { low }),
    ...(high !== undefined && high <= MAX && { high }),
  };
}
