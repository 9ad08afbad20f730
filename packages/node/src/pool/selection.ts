/** Limits of the next block, and selection of its transactions (pool.md 9). */
import {
  applyTransaction,
  createDraft,
  isVerifiedIn,
  type StateReader,
  type WalletSignatures,
} from "@uniknode/ledger";
import type { Milestone, Network, SealedTransaction } from "@uniknode/protocol";
import { isRefusal } from "./contents/senders.ts";

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

export type SelectionDeps = {
  readonly network: Network;
  /** State at the head. */
  readonly state: StateReader;
  /** Verdicts about signatures that depend on wallets. */
  readonly signatures: WalletSignatures;
  readonly head: () => { readonly height: number; readonly timestamp: number };
  /** Returns true if a transaction would be too late in the next block. */
  readonly isTooLate: (transaction: SealedTransaction) => boolean;
};

/**
 * Applies the offered transactions in order to a draft of the state. All rules apply, including the rules of the
 * token store, so that this node never forges a block that it would refuse.
 *
 * @returns the transactions for the block, and the transactions that can never be in a block on this chain
 */
export function selectTransactions(
  offered: Iterable<SealedTransaction>,
  { maxTransactions, maxBytes }: BlockLimits,
  { network, state, signatures, head, isTooLate }: SelectionDeps,
): { selected: SealedTransaction[]; failed: SealedTransaction[] } {
  const { height, timestamp } = head();
  const draft = createDraft(state);
  const milestone = network.milestoneAt(height);
  const context = { network, milestone, head: { height, timestamp }, state: draft, draft, signatures };
  const selected: SealedTransaction[] = [];
  const failed: SealedTransaction[] = [];
  const skippedSenders = new Set<string>();
  let bytes = 0;
  for (const transaction of offered) {
    const { senderPublicKey } = transaction.data;
    if (selected.length >= maxTransactions) break;
    // Expired transactions are removed with the next block, with the later ones of their senders.
    if (skippedSenders.has(senderPublicKey) || isTooLate(transaction)) {
      skippedSenders.add(senderPublicKey);
      continue;
    }
    if (bytes + transaction.bytes.length > maxBytes) break;
    try {
      // Against the chain before the block (trap A17).
      if (!isVerifiedIn(state, transaction, network, { signatures })) {
        throw new RangeError("the transaction is not verified");
      }
      applyTransaction(transaction.data, context);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      failed.push(transaction);
      continue;
    }
    selected.push(transaction);
    bytes += transaction.bytes.length;
  }
  return { selected, failed };
}
