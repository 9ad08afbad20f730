/** What rows are ordered by. */
import type { Direction } from "../../page.ts";

/** `value` is a text of SQL of the caller's own making, never of a request's. */
export type OrderTerm = { readonly value: string; readonly direction: Direction };
