/** Index of the pending transactions by their expiration, so that a block costs only what it expires (pool.md 6). */
import type { SealedTransaction } from "@uniknode/protocol";
import { type ExpirationContext, expirationHeight, isExpired } from "../expiration.ts";
import { createSortedList } from "./sorted-list.ts";

export type Expirations = {
  add(transaction: SealedTransaction): void;
  remove(transaction: SealedTransaction): void;
  /** Returns the transactions that are expired at the head, the earliest first. */
  expired(context: ExpirationContext): SealedTransaction[];
};

type Expiring = { readonly at: number; readonly transaction: SealedTransaction };

export function createExpirations(): Expirations {
  /** Version 2, by height. */
  const byHeight = createSortedList(isEarlier);
  /** Version 1, by timestamp: its height of expiration moves with the time. */
  const byTimestamp = createSortedList(isEarlier);

  const listOf = ({ data }: SealedTransaction) => (data.version === 2 ? byHeight : byTimestamp);
  return {
    add(transaction) {
      const expiring = toExpiring(transaction);
      if (expiring) listOf(transaction).insert(expiring);
    },
    remove(transaction) {
      const expiring = toExpiring(transaction);
      if (expiring) listOf(transaction).remove(expiring);
    },
    expired: (context) => [byHeight, byTimestamp].flatMap((list) => expiredOf(list.values(), context)),
  };
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
