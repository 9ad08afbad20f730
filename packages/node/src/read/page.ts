/** Pages of lists: which one is asked for, and what is found. */

export type Direction = "asc" | "desc";

/** Decimal text or a whole number. */
export type Integer = string | number;

/** Both ends belong to it; without one it is open there. */
export type Interval = { readonly from?: Integer; readonly to?: Integer };

export type Range = {
  readonly offset: number;
  readonly limit: number;
  /** A place that a page before this one named in `next`: rows that come after it, whatever the offset. */
  readonly after?: string;
  /** Whether the place of the last row is wanted. */
  readonly isWalk?: boolean;
};

export type Found<T> = {
  readonly rows: T[];
  /** Rows of all pages. */
  readonly totalCount: number;
  /**
   * Place of the last row of a walk; absent when no others come after it. Any text of up to 2,048 bytes; what it says is
   * known to the implementation that made it.
   */
  readonly next?: string;
};
