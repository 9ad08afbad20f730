/** Height ranges that match a filter. */
import type { Head } from "../../head.ts";
import type { Integer, Interval } from "../../page.ts";
import { type Condition, found } from "./conditions.ts";

/** Lowest and highest height, both included; the chain has no gaps. */
export type Heights = { readonly low: number; readonly high: number };

export const countOf = ({ low, high }: Heights): number => Math.max(0, high - low + 1);

type HeightFilter = { readonly height?: Integer | Interval; readonly timestamp?: Integer | Interval };

/** Converts heights and times of a filter to a range of heights: each block is later than its parent. */
export function heightsOf(
  head: Head,
  { height, timestamp }: HeightFilter,
  heightAt: (time: number, head: Head) => number,
): Heights {
  const heights = endsOf(height);
  const times = endsOf(timestamp);
  return {
    low: Math.max(1, heights.from ?? 1, times.from === undefined ? 1 : heightAt(times.from, head)),
    high: Math.min(
      head.height,
      heights.to ?? head.height,
      times.to === undefined ? head.height : heightAt(times.to + 1, head) - 1,
    ),
  };
}

const endsOf = (wanted: Integer | Interval | undefined): { from?: number; to?: number } => {
  if (wanted === undefined) return {};
  const { from, to } = typeof wanted === "object" ? wanted : { from: wanted, to: wanted };
  return { ...(from !== undefined && { from: Number(from) }), ...(to !== undefined && { to: Number(to) }) };
};

/** Rows at a single height are in the order of the rest of the key, in either direction of heights. */
export const betweenHeights = ({ low, high }: Heights): Condition =>
  low === high
    ? found({ sql: "height = +?", values: [low] }, "few")
    : found({ sql: "height BETWEEN ? AND ?", values: [low, high] }, "range");

/** Returns the range as two conditions, one for each end, by which an index is entered. */
export const heightConditions = ({ low, high }: Heights): Condition[] =>
  low === high
    ? [betweenHeights({ low, high })]
    : [
        { sql: "height >= ?", values: [low], finds: { share: "range", side: "low" } },
        { sql: "height <= ?", values: [high], finds: { share: "range", side: "high" } },
      ];

export const isOfHeights = ({ height, timestamp }: HeightFilter): boolean =>
  height !== undefined || timestamp !== undefined;
