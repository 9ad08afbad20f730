/** Height ranges that match a filter. */
import type { Integer, Interval } from "../../page.ts";
import { type Condition, NEVER } from "./conditions.ts";
import type { SnapshotReads } from "./reads.ts";

/** Lowest and highest height, both included; the chain has no gaps. Empty if the first is above the last. */
export type Heights = { readonly low: number; readonly high: number };

export const countOf = ({ low, high }: Heights): number => Math.max(0, high - low + 1);

type HeightFilter = { readonly height?: Integer | Interval; readonly timestamp?: Integer | Interval };

export const isOfHeights = ({ height, timestamp }: HeightFilter): boolean =>
  height !== undefined || timestamp !== undefined;

/** Height of the first block at or after a network time in seconds; one above the head if no such block exists. */
export type HeightAt = (timestamp: number) => Promise<number>;

/** Converts heights and times of a filter to a range of heights: each block is later than its parent. */
export async function heightsOf(
  { head }: SnapshotReads,
  { height, timestamp }: HeightFilter,
  heightAt: HeightAt,
): Promise<Heights> {
  const heights = endsOf(height);
  const times = endsOf(timestamp);
  const [first, above] = await Promise.all([
    times.from === undefined ? 1 : heightAt(times.from),
    times.to === undefined ? head.height + 1 : heightAt(times.to + 1),
  ]);
  return {
    low: Math.ceil(Math.max(1, heights.from ?? 1, first)),
    high: Math.floor(Math.min(head.height, heights.to ?? head.height, above - 1)),
  };
}

const endsOf = (wanted: Integer | Interval | undefined): { from?: number; to?: number } => {
  if (wanted === undefined) return {};
  const { from, to } = typeof wanted === "object" ? wanted : { from: wanted, to: wanted };
  return { ...(from !== undefined && { from: Number(from) }), ...(to !== undefined && { to: Number(to) }) };
};

export const isBetween = ({ low, high }: Heights): Condition => {
  if (low > high) return NEVER;
  return low === high
    ? { sql: "height = ?::bigint", values: [low] }
    : { sql: "height BETWEEN ?::bigint AND ?::bigint", values: [low, high] };
};
