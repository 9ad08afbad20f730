/**
 * The contents of the pool: the pending transactions, the views of their senders, the rows on disk and the reports of
 * removals, which change together. The pending transactions of each sender apply in order on the chain.
 */
import type { SealedTransaction } from "@uniknode/protocol";
import type { PoolEvent } from "../events.ts";
import type { RefusalCode } from "../refusal.ts";
import type { Journal } from "./journal.ts";
import type { Pending } from "./pending.ts";
import type { Senders } from "./senders.ts";

export type Insertion =
  | { readonly isAdded: true; readonly evicted?: SealedTransaction }
  | { readonly isAdded: false; readonly code: RefusalCode; readonly message: string };

/** Name of the event that reports a removal. */
export type RemovalEvent = Extract<PoolEvent, { readonly transaction: SealedTransaction }>["name"];

export type Contents = {
  /** Stage D of admission. An evicted transaction is removed already; the caller reports it. */
  insert(transaction: SealedTransaction): Insertion;
  /** Removes transactions, and transactions of their senders and of the stale senders that no longer apply. */
  remove(
    transactions: Iterable<SealedTransaction>,
    removalEvent: RemovalEvent,
    staleSenders?: Iterable<string>,
  ): void;
  /**
   * Replaces `before` by the `transactions` that apply, in this order; reports the transactions of `before`
   * that were removed.
   */
  replace(before: readonly SealedTransaction[], transactions: Iterable<SealedTransaction>): void;
  reportRemoval(transaction: SealedTransaction, removalEvent: RemovalEvent): void;
};

export type ContentsOptions = {
  readonly maxTransactions: number;
  /** Serialized bytes of all pending transactions. */
  readonly maxBytes: number;
};

export type ContentsDeps = {
  readonly pending: Pending;
  readonly senders: Senders;
  readonly journal: Journal;
};

type State = ContentsOptions & ContentsDeps;

export function createContents(options: ContentsOptions, deps: ContentsDeps): Contents {
  const state = { ...options, ...deps };
  return {
    insert: (transaction) => insert(state, transaction),
    remove: (transactions, removalEvent, staleSenders) =>
      remove(state, { transactions, removalEvent, staleSenders }),
    replace: (before, transactions) => replace(state, before, transactions),
    reportRemoval: (transaction, name) => state.journal.report({ name, transaction }),
  };
}

function insert(state: State, transaction: SealedTransaction): Insertion {
  const { pending, senders, journal, maxTransactions, maxBytes } = state;
  const { id, fee, senderPublicKey } = transaction.data;
  const { length } = transaction.bytes;
  if (pending.has(id)) return { isAdded: false, code: "ERR_ALREADY_IN_POOL", message: "Already in pool" };
  const isTooMuch = (bytes: number) => pending.byteLength() + bytes > maxBytes;
  const isFull = pending.size() >= maxTransactions || isTooMuch(length);
  // The new transaction may build on the last one of its own sender.
  const evicted = isFull ? pending.evictionCandidate(senderPublicKey) : undefined;
  if (isFull && (!evicted || evicted.data.fee >= fee)) return poolFull(state, fee, evicted?.data.fee);
  if (evicted && isTooMuch(length - evicted.bytes.length)) return poolFull(state, fee, evicted.data.fee);
  const reason = senders.apply(transaction);
  if (reason !== undefined) return { isAdded: false, code: "ERR_APPLY", message: reason };
  pending.add(transaction);
  journal.added(transaction);
  if (!evicted) return { isAdded: true };
  drop(state, evicted);
  senders.rebuild(evicted.data.senderPublicKey, pending.ofSender(evicted.data.senderPublicKey));
  return { isAdded: true, evicted };
}

function poolFull({ pending }: State, fee: bigint, lowest: bigint | undefined): Insertion {
  const message =
    `Pool is full (has ${pending.size()} transactions) and this transaction's fee ${fee} ` +
    `is not higher than the lowest fee already in pool ${lowest}`;
  return { isAdded: false, code: "ERR_POOL_FULL", message };
}

function drop({ pending, journal }: State, { data }: SealedTransaction): void {
  pending.remove(data.id);
  journal.removed(data.id);
}

function dropAndReport(state: State, transaction: SealedTransaction, name: RemovalEvent): void {
  drop(state, transaction);
  state.journal.report({ name, transaction });
}

type Removal = {
  readonly transactions: Iterable<SealedTransaction>;
  readonly removalEvent: RemovalEvent;
  readonly staleSenders: Iterable<string> | undefined;
};

function remove(state: State, { transactions, removalEvent, staleSenders = [] }: Removal): void {
  const { pending, senders } = state;
  const stale = new Set(staleSenders);
  for (const transaction of transactions) {
    dropAndReport(state, transaction, removalEvent);
    stale.add(transaction.data.senderPublicKey);
  }
  for (const sender of stale) {
    for (const failing of senders.rebuild(sender, pending.ofSender(sender))) {
      dropAndReport(state, failing, "transaction.pool.removed");
    }
  }
}

function replace(
  state: State,
  before: readonly SealedTransaction[],
  transactions: Iterable<SealedTransaction>,
): void {
  for (const transaction of before) drop(state, transaction);
  state.senders.clear();
  for (const transaction of transactions) insert(state, transaction);
  for (const transaction of before) {
    if (state.pending.has(transaction.data.id)) continue;
    state.journal.report({ name: "transaction.pool.removed", transaction });
  }
}
