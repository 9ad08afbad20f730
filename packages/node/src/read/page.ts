/** Pages of lists: the requested range, and the rows found. */

export type Direction = "asc" | "desc";

/** Decimal text or a whole number. */
export type Integer = string | number;

/** Both ends are included; an absent end is no bound. */
export type Interval = { readonly from?: Integer; readonly to?: Integer };

export type Range = {
  readonly offset: number;
  readonly limit: number;
  /** The `next` of an earlier page: the page has the rows after it, and `offset` is ignored. */
  readonly after?: string;
  /** Whether the answer needs `next`, the cursor of the last row. */
  readonly isWalk?: boolean;
};

export type Found<T> = {
  readonly rows: T[];
  /** Rows of all pages. */
  readonly totalCount: number;
  /**
   * Cursor of the last row, if other rows come after it. Any text of up to 2,048 bytes; its content is private to the
   * implementation that made it.
   */
  readonly next?: string;
};
