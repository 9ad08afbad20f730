/** Events of the pool: as its listener gets them, and as subscribers receive them (events.md 3.5). */
import { createHash } from "node:crypto";
import type { SealedTransaction } from "@uniknode/protocol";
import { transactionData } from "../events/content.ts";
import type { Event } from "../events/event.ts";
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

/** Returns the event in the form that subscribers receive. */
export function toPublicEvent(event: PoolEvent): Event {
  const { name } = event;
  switch (name) {
    case "transaction.pool.added":
      return {
        id: `${name}:${batchId(event.transactions.map(({ data }) => data.id))}`,
        name,
        data: event.transactions.map(({ data }) => transactionData(data)),
      };
    case "transaction.pool.rejected":
      return {
        id: `${name}:${batchId(event.rejected.map(({ transaction }) => transaction.data.id))}`,
        name,
        data: event.rejected.map(({ transaction, code, message }) => ({
          transaction: transactionData(transaction.data),
          type: code,
          message,
        })),
      };
    case "transaction.pool.removed":
    case "transaction.expired":
      return {
        id: `${name}:${event.transaction.data.id}`,
        name,
        data: transactionData(event.transaction.data),
      };
  }
}

const batchId = (ids: readonly string[]): string => createHash("sha256").update(ids.join()).digest("hex");
