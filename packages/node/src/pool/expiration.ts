/** Expiration of pending transactions (pool.md 6). */

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
