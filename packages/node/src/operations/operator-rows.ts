/** Port to the rows that operators see besides the chain: counts and missed slots. */

export type MissedSlot = { readonly slot: number; readonly publicKey: string; readonly reason: string };

export type OperatorRows = {
  /** Returns the number of transactions of all blocks of the chain. */
  transactions(): Promise<number>;
  /** Returns the last slot that was forged with a key, if any, and its block. */
  forgedBy(publicKey: string): Promise<{ readonly slot: number; readonly blockId: string } | undefined>;
  /** Returns the latest missed slots of this node's delegates, newest first. */
  missed(limit: number): Promise<readonly MissedSlot[]>;
};
