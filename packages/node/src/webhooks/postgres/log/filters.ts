/** Filters of deliveries as conditions in SQL. */
import type { PostgresValue } from "../../../postgres/connection.ts";
import { comparisonsOf } from "../../delivery-rows.ts";
import type { DeliveryFilter } from "../../model/deliveries.ts";
import { storableText } from "../storable-text.ts";

/** Returns the conditions of a filter, whose parameters are numbered from `first`. */
export function conditionsOf(
  filter: DeliveryFilter,
  first: number,
): { readonly where: string; readonly values: readonly PostgresValue[] } {
  const comparisons = comparisonsOf(filter);
  return {
    where: comparisons.map(([condition], index) => `AND ${condition} $${first + index}`).join(" "),
    values: comparisons.map(([, value]) => (typeof value === "string" ? storableText(value) : value)),
  };
}
