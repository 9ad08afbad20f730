/** Expiration of pending transactions (pool.md 6). */
import type { SealedTransaction } from "@uniknode/protocol";
import { SortedList } from "../../platform/sorted.ts";

/** Members that decide the expiration; `timestamp` is in seconds since the network epoch. */
export type ExpiringFields = { version?: number; expiration?: number; timestamp?: number };

export type ExpirationContext = {
  /** Seconds of a slot. */
  blockTime: number;
  /** Height of the head. */
  currentHeight: number;
  /** Network time in seconds. */
  now: number;
  /** Maximum age of a pending version 1 transaction in blocks. */
  maxTransactionAge: number;
};

/** Height from which the transaction is expired; undefined if it never expires. */
export function expirationHeight(
  transaction: ExpiringFields,
  context: ExpirationContext,
): number | undefined {
  if (transaction.version === 2) return transaction.expiration || undefined;
  // A missing timestamp is rejected by the schema later.
  if (transaction.timestamp === undefined) return undefined;
  const age = Math.floor((context.now - transaction.timestamp) / context.blockTime);
  return context.currentHeight - age + context.maxTransactionAge;
}

/** Returns true if a transaction is expired in the next block: it is no longer admitted or selected. */
export const isExpiredInNextBlock = (expiration: number | undefined, lastHeight: number): boolean =>
  expiration !== undefined && expiration <= lastHeight + 1;

export const isExpired = (expiration: number | undefined, lastHeight: number): boolean =>
  expiration !== undefined && expiration <= lastHeight;

type Expiring = { readonly at: number; readonly transaction: SealedTransaction };

/** Index of the pending transactions by their expiration, so that a block costs only what it expires. */
export class Expirations {
  /** Version 2, by height. */
  readonly #byHeight = new SortedList(isEarlier);
  /** Version 1, by timestamp: its height of expiration moves with the time. */
  readonly #byTimestamp = new SortedList(isEarlier);

  add(transaction: SealedTransaction): void {
    const expiring = toExpiring(transaction);
    if (expiring) this.#listOf(transaction).insert(expiring);
  }

  remove(transaction: SealedTransaction): void {
    const expiring = toExpiring(transaction);
    if (expiring) this.#listOf(transaction).remove(expiring);
  }

  /** Returns the transactions that are expired at the head, the earliest first. */
  expired(context: ExpirationContext): SealedTransaction[] {
    return [this.#byHeight, this.#byTimestamp].flatMap((list) => expiredOf(list.values(), context));
  }

  #listOf({ data }: SealedTransaction): SortedList<Expiring> {
    return data.version === 2 ? this.#byHeight : this.#byTimestamp;
  }
}

/** Undefined if the transaction never expires. */
function toExpiring(transaction: SealedTransaction): Expiring | undefined {
  const { version, expiration, timestamp } = transaction.data;
  const at = version === 2 ? expiration || undefined : timestamp;
  return at === undefined ? undefined : { at, transaction };
}

function expiredOf(ascending: Iterable<Expiring>, context: ExpirationContext): SealedTransaction[] {
  const expired: SealedTransaction[] = [];
  for (const { transaction } of ascending) {
    if (!isExpired(expirationHeight(transaction.data, context), context.currentHeight)) break;
    expired.push(transaction);
  }
  return expired;
}

function isEarlier(left: Expiring, right: Expiring): boolean {
  return left.at === right.at ? left.transaction.data.id < right.transaction.data.id : left.at < right.at;
}
