/**
 * Pending transactions that still apply: limits of the next block and selection of its transactions (pool.md 9), and the check of a
 * sender's transactions, and of dependents, after a change of the chain (pool.md 6 and 10).
 */
import {
  applyTransaction,
  createDraft,
  isVerifiedIn,
  type StateReader,
  type WalletSignatures,
} from "@uniknode/ledger";
import {
  type Milestone,
  type Network,
  recheckTransaction,
  type SealedTransaction,
  type TransactionContext,
  transactionFromBytes,
  verifySignature,
} from "@uniknode/protocol";
import type { Steps } from "../platform/threads/time-slices.ts";
import type { Contents, RemovalEvent } from "./contents/contents.ts";
import {
  type ExpirationContext,
  expirationHeight,
  isExpired,
  isExpiredInNextBlock,
  type Pending,
} from "./contents/pending.ts";
import { isRefusal, type Senders } from "./contents/senders.ts";

export type BlockLimits = { readonly maxTransactions: number; readonly maxBytes: number };

/** Larger blocks do not fit into the replies of peers, which contain them as hexadecimal text (pool.md 9). */
const MAX_SENT_BYTES = 10_000_000;
/** Bytes of a block kept free for its header and lengths (pool.md 9). */
const BLOCK_OVERHEAD_BYTES = 10_240;

/** Bytes of the length before each transaction of a block. */
const LENGTH_BYTES = 4;

/** Transactions of the next block, and their bytes in total with the lengths between them, under all given milestones. */
export const blockLimits = (...milestones: readonly Pick<Milestone, "block">[]): BlockLimits => ({
  maxTransactions: Math.min(...milestones.map(({ block }) => block.maxTransactions)),
  maxBytes: Math.min(
    MAX_SENT_BYTES,
    ...milestones.map(({ block }) => block.maxPayload - BLOCK_OVERHEAD_BYTES),
  ),
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
    bytes += transaction.bytes.length + LENGTH_BYTES;
  }
  return { selected, failed };
}

export type SenderCheckDeps = {
  readonly pending: Pending;
  readonly senders: Senders;
  readonly contents: Contents;
  /** Returns the rules in force at the head. */
  readonly context: () => TransactionContext;
  readonly expirationContext: () => ExpirationContext;
  /** Returns the ids that are in a stored block. */
  readonly storedIds: (ids: readonly string[]) => ReadonlySet<string>;
  readonly trial: TrialDeps;
};

/**
 * Removes the transactions of a sender that do not apply, then from the first expired one on, then from the first one on
 * that the milestone does not allow; a transaction in each step. A change of the sender's transactions ends the use of the
 * steps.
 *
 * @param isOutdated true if the transactions were read under another milestone
 */
export function* checkSender(sender: string, isOutdated: boolean, deps: SenderCheckDeps): Steps<void> {
  yield* readReturned(deps, sender);
  yield* rebuildView(deps, sender);
  yield* removeExpired(deps, sender);
  if (isOutdated) yield* removeOutdated(deps, sender);
}

/**
 * Removes the dependents that do not apply on the chain after the others in the line; a transaction in each step. A change
 * of the line ends the use of the steps.
 */
export function* checkDependents({ contents, trial }: SenderCheckDeps): Steps<void> {
  const applies = createTrial(trial, true);
  for (const transaction of contents.line()) {
    if (!applies(transaction) && contents.isDependent(transaction.data.id)) {
      contents.remove(transaction, "transaction.pool.removed");
    }
    yield;
  }
}

/** The transactions of reverted blocks were read without the rules of the pool, and another branch can contain them. */
function* readReturned(
  { pending, contents, context, storedIds }: SenderCheckDeps,
  sender: string,
): Steps<void> {
  const returned = pending.ofSender(sender).filter(({ data }) => contents.isReturned(data.id));
  for (const transaction of returned) {
    const { id } = transaction.data;
    const isIncluded = storedIds([id]).has(id);
    const admitted = isIncluded ? undefined : readAdmitted(id, transaction.bytes, context());
    if (admitted) pending.update(admitted);
    else if (isIncluded) contents.removeIncluded(transaction);
    else contents.remove(transaction, "transaction.pool.removed");
    yield;
  }
}

/** Reads an admitted transaction again; undefined if the bytes are another one, or one that the milestone does not allow. */
function readAdmitted(
  id: string,
  bytes: Uint8Array,
  context: TransactionContext,
): SealedTransaction | undefined {
  try {
    const transaction = transactionFromBytes(bytes, context, { checkSignature: false });
    if (transaction.data.id !== id) return undefined;
    // Without the signatures of a multisignature wallet, it was admitted by its own signature.
    const isVerified = transaction.data.signatures === undefined || verifySignature(transaction.data);
    return { ...transaction, isVerified };
  } catch {
    return undefined;
  }
}

/** Removes the transactions that no longer apply, unless they can be dependents. */
function* rebuildView({ pending, senders, contents }: SenderCheckDeps, sender: string): Steps<void> {
  senders.rebuild(sender, []);
  for (const transaction of [...pending.ofSender(sender)]) {
    if (senders.apply(transaction) === undefined) contents.accept(transaction.data.id);
    else if (!contents.postpone(transaction)) contents.remove(transaction, "transaction.pool.removed");
    yield;
  }
}

function* removeExpired(deps: SenderCheckDeps, sender: string): Steps<void> {
  const context = deps.expirationContext();
  const first = deps.pending
    .ofSender(sender)
    .findIndex(({ data }) => isExpired(expirationHeight(data, context), context.currentHeight));
  if (first >= 0) yield* removeFrom(deps, sender, first, "transaction.expired");
}

function* removeOutdated(deps: SenderCheckDeps, sender: string): Steps<void> {
  for (const [index, transaction] of deps.pending.ofSender(sender).entries()) {
    if (!isReadable(transaction, deps.context())) {
      yield* removeFrom(deps, sender, index, "transaction.pool.removed");
      return;
    }
    yield;
  }
}

function isReadable(transaction: SealedTransaction, context: TransactionContext): boolean {
  try {
    recheckTransaction(transaction, context);
    return true;
  } catch {
    return false;
  }
}

/** Removes a transaction and the later ones of its sender, the highest nonce first. */
function* removeFrom(deps: SenderCheckDeps, sender: string, first: number, name: RemovalEvent): Steps<void> {
  for (const transaction of deps.pending.ofSender(sender).slice(first).reverse()) {
    deps.contents.remove(transaction, name);
    yield;
  }
  yield* rebuildView(deps, sender);
}
