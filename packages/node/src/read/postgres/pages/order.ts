/** Orders of rows. */
import type { RowValue } from "../../cursor.ts";
import type { NamedTerm } from "../../orders.ts";
import { bytesOfHex, hex, nullable, orNull } from "../row-text.ts";

/** `value` is SQL of this program. */
export type OrderTerm = NamedTerm & { readonly value: string };

/** Adds the columns of the values to the terms of an order. */
export const termsOf = <Name extends string>(
  order: readonly NamedTerm<Name>[],
  fields: Readonly<Record<Name, { readonly column: string }>>,
): OrderTerm[] =>
  order.map((term) => {
    const { column } = fields[term.name];
    return { ...term, value: term.kind === "absence" ? `(${column} IS NULL)::integer` : column };
  });

/** Names of the columns of a page that contain the order values of its rows. */
export const valueNames = (order: readonly OrderTerm[]): string[] => order.map((_, index) => `order${index}`);

/** Returns the order by these columns. */
export const orderText = (order: readonly OrderTerm[]): string =>
  order.map(({ direction }, index) => `order${index} ${direction}`).join(", ");

/** Returns SQL of the texts of these columns, which `valuesOfTexts` converts. */
export const valueTexts = (order: readonly OrderTerm[]): string[] =>
  order.map(({ kind }, index) => nullable(kind === "bytes" ? hex(`order${index}`) : `order${index}::text`));

export const valuesOfTexts = (order: readonly OrderTerm[], texts: readonly string[]): RowValue[] =>
  order.map(({ kind }, index) => {
    const text = orNull(texts[index] ?? "");
    return text !== null && kind === "bytes" ? bytesOfHex(text) : text;
  });
