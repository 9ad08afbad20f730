/** Effects of submissions on the chain: the outcome of each block, and the change by each commit. */
import type { Change, Verdict } from "@uniknode/ledger";
import type { Block, BlockHeader, SealedTransaction } from "@uniknode/protocol";

export type Outcome =
  /** The block is on the chain, and on disk. */
  | { readonly kind: "Accepted" }
  | Exclude<Verdict, { kind: "Accepted" }>
  /** The bytes are not a block under the rules in force. */
  | { readonly kind: "Unreadable"; readonly cause: unknown }
  /** The block is the first of a batch, and does not continue the head (consensus.md 6.5). */
  | { readonly kind: "Unchained" }
  /** A block before it in the batch was not accepted. */
  | { readonly kind: "Skipped" };

/** Returns the reason why the chain refused a block; undefined if it accepted it. */
export function refusalOf(outcome: Outcome): string | undefined {
  if (outcome.kind === "Accepted") return undefined;
  const { kind, ...detail } = outcome;
  return `${kind} ${JSON.stringify(detail, (_, value) => (value instanceof Error ? value.message : value))}`;
}

/** Effect of one commit on the chain: blocks that were reverted, or blocks that were applied. */
export type ChainChange = {
  /** The head after the change. */
  readonly head: BlockHeader;
  /** Applied blocks by ascending height, with the records that each of them changed. */
  readonly applied: readonly { readonly block: Block; readonly changes: readonly Change[] }[];
  readonly revertedBlocks: number;
  /** Transactions of the reverted blocks, oldest first, at most `maxReturnedTransactions`. */
  readonly returned: readonly SealedTransaction[];
};
