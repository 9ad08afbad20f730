/** Tracks the newest blocks and detects reverted blocks. */
import type { Block } from "@uniknode/client";

/** Newest blocks, newest first. */
export type Top = readonly Block[];

export type Reorganization = {
  /** Reverted blocks that a page may have shown, newest first. */
  readonly reverted: Top;
  /** None of the known blocks is on the chain: any cached response may contain a reverted block. */
  readonly isDeep: boolean;
};

/**
 * Finds the blocks that were reverted between two states of the chain.
 *
 * @param known previous blocks
 * @param current current blocks, without a gap
 * @returns undefined if the chain was only extended
 */
export function reorganizationBetween(known: Top, current: Top): Reorganization | undefined {
  const lowest = current.at(-1)?.height ?? 0;
  const ids = new Set(current.map(({ id }) => id));
  const reverted = known.filter(({ id, height }) => height >= lowest && !ids.has(id));
  if (reverted.length === 0) return undefined;
  return { reverted, isDeep: !known.some(({ id }) => ids.has(id)) };
}
