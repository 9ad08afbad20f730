/** Refusals of the pool (pool.md 4), and its events: as its listener gets them, and as subscribers receive them (events.md 3.5). */
import { createHash } from "node:crypto";
import type { SealedTransaction } from "@uniknode/protocol";
import type { Event } from "../events/catalogue.ts";
import { transactionData } from "../events/content.ts";
import { CodedError } from "../platform/coded-error.ts";

/** The codes are public and do not change. */
export type RefusalCode =
  | "ERR_DUPLICATE"
  | "ERR_FROM_FUTURE"
  | "ERR_EXPIRED"
  | "ERR_WRONG_NETWORK"
  | "ERR_UNSUPPORTED"
  | "ERR_UNKNOWN"
  | "ERR_PENDING"
  | "ERR_CONFLICT"
  | "ERR_INVALID_RECIPIENT"
  | "ERR_HTLCLOCKNOTFOUND"
  | "ERR_TRANSACTION_SCHEMA"
  | "ERR_TOO_LARGE"
  | "ERR_BAD_DATA"
  | "ERR_LOW_FEE"
  | "ERR_APPLY"
  | "ERR_FORGED"
  | "ERR_ALREADY_IN_POOL"
  | "ERR_POOL_FULL";

/** One transaction is refused; the others of its request are not affected. */
export class Refusal extends CodedError<RefusalCode> {
  constructor(code: RefusalCode, message: string) {
    super(code, message, { isRetryable: code === "ERR_POOL_FULL" });
  }
}

/** The sender has the maximum of pending transactions: the transaction is listed as excess, without an error. */
export class SenderLimitError extends CodedError<"SENDER_LIMIT"> {
  constructor() {
    super("SENDER_LIMIT", "the sender has the maximum of pending transactions", { isRetryable: true });
  }
}

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
