/** Changes of the pool, for its listener (events.md 3.5). */
import type { SealedTransaction } from "@uniknode/protocol";
import type { RefusalCode } from "./refusal.ts";

/** A refusal by the last stage of admission; the transaction itself is valid. */
export type Rejected = {
  readonly transaction: SealedTransaction;
  readonly code: RefusalCode;
  readonly message: string;
};

export type PoolEvent =
  | { readonly name: "transaction.pool.added"; readonly transactions: readonly SealedTransaction[] }
  | { readonly name: "transaction.pool.rejected"; readonly rejected: readonly Rejected[] }
  /** Every removal except expiration. */
  | { readonly name: "transaction.pool.removed"; readonly transaction: SealedTransaction }
  | { readonly name: "transaction.expired"; readonly transaction: SealedTransaction };
