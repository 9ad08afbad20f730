/** Pages of lists: the requested range, and the rows found. */

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
