/** What rows are ordered by. */

export type Direction = "asc" | "desc";

/** `value` is a text of SQL of the caller's own making, never of a request's. */
export type OrderTerm = { readonly value: string; readonly direction: Direction };
