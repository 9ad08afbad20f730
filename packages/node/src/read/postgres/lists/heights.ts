/**
 * Height ranges that match a filter, and the plan "row number", which finds the start of a far page of all blocks, or of all
 * transactions between two heights, without reading the rows before it: heights have no gaps, and each block stores the number of
 * transactions up to it.
 */

import { prepared } from "../../../postgres/reads.ts";
import type { Direction, Range } from "../../page.ts";
import { type Heights, heightsBetween, type isOfHeights, timesOf } from "../../sql.ts";
import { type Condition, NEVER } from "./conditions.ts";
import { first, type SnapshotReads } from "./reads.ts";

/** Height of the first block at or after a network time in seconds; one above the head if no such block exists. */
export type HeightAt = (timestamp: number) => Promise<number>;

/** Converts heights and times of a filter to a range of heights. */
export async function heightsOf(
  { head }: SnapshotReads,
  filter: Parameters<typeof isOfHeights>[0],
  heightAt: HeightAt,
): Promise<Heights> {
  const { from, above } = timesOf(filter);
  const [first, end] = await Promise.all([
    from === undefined ? from : heightAt(from),
    above === undefined ? above : heightAt(above),
  ]);
  return heightsBetween(head, filter, first, end);
}

export const isBetween = ({ low, high }: Heights): Condition => {
  if (low > high) return NEVER;
  return low === high
    ? { sql: "height = ?::bigint", values: [low] }
    : { sql: "height BETWEEN ?::bigint AND ?::bigint", values: [low, high] };
};

/** Offset from which on the start of a page is searched: skipping fewer rows costs less than another statement. */
const FAR = 100;

const NOWHERE: Heights = { low: 1, high: 0 };

/** Returns true if searching the start of a page costs less than skipping the rows before it. */
export const isFar = ({ offset, after, isWalk = false }: Range): boolean =>
  offset >= FAR && after === undefined && !isWalk;

/** Returns the heights of blocks without the first ones in a direction. */
export function startOfBlocks({ low, high }: Heights, direction: Direction, offset: number): Heights {
  const skipped = Math.max(0, offset);
  return direction === "asc" ? { low: low + skipped, high } : { low, high: high - skipped };
}

/** Finds the block of a transaction by the number of the transaction, counted after a height. */
const BLOCK_OF_ROW = prepared(
  `SELECT base::float8 AS base, height::float8 AS height, total::float8 AS total, count::float8 AS count
   FROM (SELECT coalesce(max(transactions_up_to), 0) AS base FROM blocks WHERE height = $1) AS start
   CROSS JOIN LATERAL (
     SELECT height, transactions_up_to AS total, number_of_transactions AS count FROM blocks
     WHERE transactions_up_to >= base + $2::bigint ORDER BY transactions_up_to, height LIMIT 1
   ) AS block`,
);
type RowBlock = {
  /** Number of transactions up to the height after which counting begins. */
  readonly base: number;
  readonly height: number;
  /** Number of transactions up to and including the block, and in the block. */
  readonly total: number;
  readonly count: number;
};

/**
 * Returns the range of heights that begins with the first block of a page of transactions, and the number of rows of
 * this block before the page.
 */
export async function startOfTransactions(
  { query }: SnapshotReads,
  { low, high }: Heights,
  direction: Direction,
  offset: number,
): Promise<{ readonly heights: Heights; readonly offset: number }> {
  const isUp = direction === "asc";
  const values = isUp ? [low - 1, offset + 1] : [high, -offset];
  const block = await first(query<RowBlock>(BLOCK_OF_ROW, values));
  if (!block || block.height < low || block.height > high) return { heights: NOWHERE, offset: 0 };
  const { base, height, total, count } = block;
  return isUp
    ? { heights: { low: height, high }, offset: offset - (total - count - base) }
    : { heights: { low, high: height }, offset: offset - (base - total) };
}
