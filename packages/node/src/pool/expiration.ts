/** When a pending transaction lapses (pool.md 6). */

/** Members that decide; `timestamp` is in seconds since the network epoch. */
export type Lapsing = { version?: number; expiration?: number; timestamp?: number };

export type ExpirationContext = {
  /** Seconds of a slot. */
  blockTime: number;
  /** Of the head. */
  currentHeight: number;
  /** Network time in seconds. */
  now: number;
  /** Blocks that a version 1 transaction may wait. */
  maxTransactionAge: number;
};

/** Height from which the transaction is too late; `undefined` means never. */
export function expirationHeight(transaction: Lapsing, context: ExpirationContext): number | undefined {
  if (transaction.version === 2) return transaction.expiration || undefined;
  // Without a timestamp it is no transaction, which its schema tells.
  if (transaction.timestamp === undefined) return undefined;
  const age = Math.floor((context.now - transaction.timestamp) / context.blockTime);
  return context.currentHeight - age + context.maxTransactionAge;
}

/** A transaction that expires with the next block is not admitted any more. */
export const isRefusedAtAdmission = (expiration: number | undefined, lastHeight: number): boolean =>
  expiration !== undefined && expiration <= lastHeight + 1;

export const isExpired = (expiration: number | undefined, lastHeight: number): boolean =>
  expiration !== undefined && expiration <= lastHeight;
