/** Stored totals of transactions, which need no counting. */
import { firstIndex } from "../../../platform/binary-search.ts";
import type { Database } from "../../../store/engine/database.ts";
import { type Head, perHead } from "../../head.ts";
import type { Heights } from "./conditions.ts";

export type TypeTotal = {
  readonly typeGroup: number;
  readonly type: number;
  readonly transactions: number;
};

export type Totals = {
  /** Returns the number of transactions up to and including the block of a height; 0 below the first block. */
  upTo(height: number): number;
  between(heights: Heights): number;
  /** Returns the lowest height whose total reaches `count`; one above the head if none does. */
  heightOf(count: number, head: Head): number;
  byType(head: Head): readonly TypeTotal[];
};

export function createTotals(database: Database): Totals {
  const end = database.prepare<{ transactions: number }>(
    "SELECT transactions FROM block_ends WHERE height = ?",
  );
  const types = database.prepare<TypeTotal>(
    "SELECT type_group AS typeGroup, type, transactions FROM type_totals",
  );
  const upTo = (height: number) => end.get(height)?.transactions ?? 0;
  return {
    upTo,
    between: ({ low, high }) => (low > high ? 0 : upTo(high) - upTo(low - 1)),
    // Totals never decrease: a binary search needs no index on them.
    heightOf: (count, head) => 1 + firstIndex(head.height, (index) => upTo(index + 1) >= count),
    byType: perHead(() => types.all()),
  };
}
