/** Limits of the blocks of this node. */
import type { Milestone } from "@uniknode/protocol";

export type BlockLimits = { readonly maxTransactions: number; readonly maxBytes: number };

/** Bytes of a block kept free for its header and lengths (pool.md 9). */
const BLOCK_OVERHEAD_BYTES = 10_240;

/** Transactions of the next block, and their bytes in total, under the rules in force at the head. */
export const blockLimits = ({
  block: { maxTransactions, maxPayload },
}: Pick<Milestone, "block">): BlockLimits => ({
  maxTransactions,
  maxBytes: maxPayload - BLOCK_OVERHEAD_BYTES,
});
