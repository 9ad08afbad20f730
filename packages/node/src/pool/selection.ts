/** Limits of the next block, and selection of its transactions (pool.md 9). */
import {
  applyTransaction,
  createDraft,
  isVerifiedIn,
  type StateReader,
  type WalletSignatures,
} from "@uniknode/ledger";
import type { Milestone, Network, SealedTransaction } from "@uniknode/protocol";
import type { Pending } from "./contents/pending.ts";
import { type ExpirationContext, expirationHeight, isExpiredInNextBlock } from "./contents/pending.ts";
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

export type TrialDeps = {
  readonly network: Network;
  /** State at the head. */
  readonly state: StateReader;
  /** Verdicts about signatures that depend on wallets. */
  readonly signatures: WalletSignatures;
  readonly head: () => { readonly height: number; readonly timestamp: number };
};

/**
 * Returns a function that applies transactions one after another to a draft of the state, as a block on the head does. It
 * returns false for a transaction that is refused, which changes nothing.
 *
 * @param spansBlocks true if the transactions can be in several blocks
 */
export function createTrial(
  { network, state, signatures, head }: TrialDeps,
  spansBlocks = false,
): (transaction: SealedTransaction) => boolean {
  const { height, timestamp } = head();
  const draft = createDraft(state);
  const milestone = network.milestoneAt(height);
  const context = { network, milestone, head: { height, timestamp }, state: draft, draft, signatures };
  return (transaction) => {
    try {
      // Against the chain before the block (trap A17).
      const isVerified =
        isVerifiedIn(state, transaction, network, { signatures }) ||
        (spansBlocks && isVerifiedIn(draft, transaction, network, { signatures }));
      if (isVerified) applyTransaction(transaction.data, context);
      return isVerified;
    } catch (error) {
      if (isRefusal(error)) return false;
      throw error;
    }
  };
}

/** Candidates for a block, as a multiple of its maximum of transactions. */
const SELECTION_FACTOR = 10;

/**
 * Iterates over the transactions that may be selected for a block, in order.
 *
 * @param line see `Contents.line`
 * @param isLeftOut returns true for a sender whose transactions are left out
 */
export function* candidates(
  pending: Pending,
  line: readonly SealedTransaction[],
  { maxTransactions }: BlockLimits,
  isLeftOut: (senderPublicKey: string) => boolean,
): Iterable<SealedTransaction> {
  const limit = maxTransactions * SELECTION_FACTOR;
  for (const transaction of line.slice(0, limit)) {
    if (!isLeftOut(transaction.data.senderPublicKey)) yield transaction;
  }
  const isInLine = new Set(line);
  for (const transaction of pending.candidates(limit, isLeftOut)) {
    if (!isInLine.has(transaction)) yield transaction;
  }
}

/**
 * Applies the offered transactions in order to a draft of the state. All rules apply, including the rules of the
 * token store, so that this node never forges a block that it would refuse.
 *
 * @returns the transactions for the block, and the transactions that can never be in a block on this chain
 */
export function selectTransactions(
  offered: Iterable<SealedTransaction>,
  { maxTransactions, maxBytes }: BlockLimits,
  { expiration, ...deps }: TrialDeps & { readonly expiration: ExpirationContext },
): { selected: SealedTransaction[]; failed: SealedTransaction[] } {
  const applies = createTrial(deps);
  const isTooLate = ({ data }: SealedTransaction) =>
    isExpiredInNextBlock(expirationHeight(data, expiration), expiration.currentHeight);
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
    if (!applies(transaction)) {
      failed.push(transaction);
      continue;
    }
    selected.push(transaction);
    bytes += transaction.bytes.length;
  }
  return { selected, failed };
}
