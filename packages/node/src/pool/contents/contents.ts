/**
 * What is in the pool: the pending transactions, the views of their senders, the rows on disk and the reports of
 * departures, which change together. Each sender's pending transactions apply one after the other on the chain.
 */
import type { SealedTransaction } from "@uniknode/protocol";
import type { RefusalCode } from "../admission/refusal.ts";
import type { PoolEvent } from "../events.ts";
import type { Journal } from "./journal.ts";
import type { Pending } from "./pending.ts";
import type { Senders } from "./senders.ts";

export type Insertion =
  | { readonly isAdded: true; readonly evicted?: SealedTransaction }
  | { readonly isAdded: false; readonly code: RefusalCode; readonly message: string };

/** The name under which a transaction leaves. */
export type Departure = Extract<PoolEvent, { readonly transaction: SealedTransaction }>["name"];

export type Contents = {
  /** Stage D of admission. What has to leave for the newcomer has left; the caller reports it. */
  insert(transaction: SealedTransaction): Insertion;
  /** Takes transactions out, and what does not apply any more of their senders and of the stale ones. */
  remove(
    transactions: Iterable<SealedTransaction>,
    departure: Departure,
    staleSenders?: Iterable<string>,
  ): void;
  /** Starts anew with these transactions, in this order, as far as they apply; those of before that are gone have left. */
  replace(before: readonly SealedTransaction[], transactions: Iterable<SealedTransaction>): void;
  reportDeparture(transaction: SealedTransaction, departure: Departure): void;
};

export type ContentsOptions = {
  readonly maxTransactions: number;
  /** Of all pending transactions, serialized. */
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
    // The newcomer may build on the last one of its own sender.
    const evicted = isFull ? pending.evictionCandidate(senderPublicKey) : undefined;
    if (isFull && (!evicted || evicted.data.fee >= fee)) return poolFull(fee, evicted?.data.fee);
    if (evicted && isTooMuch(length - evicted.bytes.length)) return poolFull(fee, evicted.data.fee);
    const reason = senders.apply(transaction);
    if (reason !== undefined) return { isAdded: false, code: "ERR_APPLY", message: reason };
    pending.add(transaction);
    journal.added(transaction);
    if (!evicted) return { isAdded: true };
    take(evicted);
    senders.rebuild(evicted.data.senderPublicKey, pending.ofSender(evicted.data.senderPublicKey));
    return { isAdded: true, evicted };
  }

  function poolFull(fee: bigint, lowest: bigint | undefined): Insertion {
    const message =
      `Pool is full (has ${pending.size()} transactions) and this transaction's fee ${fee} ` +
      `is not higher than the lowest fee already in pool ${lowest}`;
    return { isAdded: false, code: "ERR_POOL_FULL", message };
  }

  function take({ data }: SealedTransaction): void {
    pending.remove(data.id);
    journal.removed(data.id);
  }

  function leave(transaction: SealedTransaction, departure: Departure): void {
    take(transaction);
    reportDeparture(transaction, departure);
  }

  const reportDeparture = (transaction: SealedTransaction, name: Departure) =>
    journal.report({ name, transaction });

  function remove(
    transactions: Iterable<SealedTransaction>,
    departure: Departure,
    staleSenders: Iterable<string> = [],
  ): void {
    const stale = new Set(staleSenders);
    for (const transaction of transactions) {
      leave(transaction, departure);
      stale.add(transaction.data.senderPublicKey);
    }
    for (const sender of stale) {
      for (const failing of senders.rebuild(sender, pending.ofSender(sender))) {
        leave(failing, "transaction.pool.removed");
      }
    }
  }

  function replace(before: readonly SealedTransaction[], transactions: Iterable<SealedTransaction>): void {
    for (const transaction of before) take(transaction);
    senders.clear();
    for (const transaction of transactions) insert(transaction);
    for (const transaction of before) {
      if (!pending.has(transaction.data.id)) reportDeparture(transaction, "transaction.pool.removed");
    }
  }

  return { insert, remove, replace, reportDeparture };
}
