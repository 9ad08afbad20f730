/** What a page knows of the top of the chain, and what of it no longer holds. */
import type { Block } from "@uniknode/client";

/** The newest blocks, newest first. */
export type Top = readonly Block[];

export type Reorganization = {
  /** Blocks that a page may have shown and that are not on the chain any more, newest first. */
  readonly reverted: Top;
  /** The page knew none of the blocks that are on the chain now: any older answer may name a reverted block. */
  readonly isDeep: boolean;
};

/**
 * What has been reverted between two tops of the chain.
 *
 * @param known as it was
 * @param current as it is; without a gap
 * @returns undefined if the chain was extended only
 */
export function reorganizationBetween(known: Top, current: Top): Reorganization | undefined {
  const lowest = current.at(-1)?.height ?? 0;
  const ids = new Set(current.map(({ id }) => id));
  const reverted = known.filter(({ id, height }) => height >= lowest && !ids.has(id));
  if (reverted.length === 0) return undefined;
  return { reverted, isDeep: !known.some(({ id }) => ids.has(id)) };
}
