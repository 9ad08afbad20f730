/** Orders of rows. */
import { hash } from "node:crypto";
import type { Direction } from "../../page.ts";

export type OrderTerm = {
  /** SQL written in this program. */
  readonly value: string;
  readonly direction: Direction;
  readonly kind: "integer" | "text" | "bytes";
};

/** Names of the columns of a page that have the order values of its rows. */
export const valueNames = (order: readonly OrderTerm[]): string[] => order.map((_, index) => `order${index}`);

/** Returns the order by these columns. */
export const orderText = (order: readonly OrderTerm[]): string =>
  order.map(({ direction }, index) => `order${index} ${direction}`).join(", ");

/** Returns a short name that differs for different orders. */
export const nameOf = (order: readonly OrderTerm[]): string =>
  hash("sha1", order.map(({ value, direction }) => `${value} ${direction}`).join()).slice(0, 8);
