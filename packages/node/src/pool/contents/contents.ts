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

export function createContents(
  { maxTransactions, maxBytes }: ContentsOptions,
  { pending, senders, journal }: ContentsDeps,
): Contents {
  const isTooMuch = (bytes: number) => pending.byteLength() + bytes > maxBytes;

  function insert(transaction: SealedTransaction): Insertion {
    const { id, fee, senderPublicKey } = transaction.data;
    const { length } = transaction.bytes;
    if (pending.has(id)) return { isAdded: false, code: "ERR_ALREADY_IN_POOL", message: "Already in pool" };
    const isFull = pending.size() >= maxTransactions || isTooMuch(length);
    // The new transaction may build on the last one of its own sender.
    const evicted = isFull ? pending.evictionCandidate(senderPublicKey) : undefined;
    if (isFull && (!evicted || evicted.data.fee >= fee)) return poolFull(fee, evicted?.data.fee);
    if (evicted && isTooMuch(length - evicted.bytes.length)) return poolFull(fee, evicted.data.fee);
    const reason = senders.apply(transaction);
    if (reason !== undefined) return { isAdded: false, code: "ERR_APPLY", message: reason };
    pending.add(transaction);
    journal.added(transaction);
    if (!evicted) return { isAdded: true };
    drop(evicted);
    senders.rebuild(evicted.data.senderPublicKey, pending.ofSender(evicted.data.senderPublicKey));
    return { isAdded: true, evicted };
  }

  function poolFull(fee: bigint, lowest: bigint | undefined): Insertion {
    const message =
      `Pool is full (has ${pending.size()} transactions) and this transaction's fee ${fee} ` +
      `is not higher than the lowest fee already in pool ${lowest}`;
    return { isAdded: false, code: "ERR_POOL_FULL", message };
  }

  function drop({ data }: SealedTransaction): void {
    pending.remove(data.id);
    journal.removed(data.id);
  }

  function removeAndReport(transaction: SealedTransaction, removalEvent: RemovalEvent): void {
    drop(transaction);
    reportRemoval(transaction, removalEvent);
  }

  const reportRemoval = (transaction: SealedTransaction, name: RemovalEvent) =>
    journal.report({ name, transaction });

  function remove(
    transactions: Iterable<SealedTransaction>,
    removalEvent: RemovalEvent,
    staleSenders: Iterable<string> = [],
  ): void {
    const stale = new Set(staleSenders);
    for (const transaction of transactions) {
      removeAndReport(transaction, removalEvent);
      stale.add(transaction.data.senderPublicKey);
    }
    for (const sender of stale) {
      for (const failing of senders.rebuild(sender, pending.ofSender(sender))) {
        removeAndReport(failing, "transaction.pool.removed");
      }
    }
  }

  function replace(before: readonly SealedTransaction[], transactions: Iterable<SealedTransaction>): void {
    for (const transaction of before) drop(transaction);
    senders.clear();
    for (const transaction of transactions) insert(transaction);
    for (const transaction of before) {
      if (!pending.has(transaction.data.id)) reportRemoval(transaction, "transaction.pool.removed");
    }
  }

  return { insert, remove, replace, reportRemoval };
}
