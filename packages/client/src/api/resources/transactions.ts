/** `/transactions` (http-api.md 6.4). */

import { createList } from "../list.ts";
import type { TransactionFilter, TransactionOrder, TransactionSearchFilter } from "../list-filters.ts";
import { path } from "../request.ts";
import type {
  Amount,
  ApiResponse,
  Timestamp,
  Transformed,
  TransformQuery,
  WholeAmount,
  WithChainmeta,
} from "../responses.ts";
import type { Send } from "../send.ts";
import type { FeesByType } from "./node.ts";
import type { Proof, ProofQuery } from "./proofs.ts";

export type Transaction<Written = Amount> = {
  readonly id: string;
  /** Absent while it waits in the pool. */
  readonly blockId?: string;
  readonly version: number;
  readonly type: number;
  readonly typeGroup: number;
  /** Smallest unit. */
  readonly amount: Written;
  /** Smallest unit. */
  readonly fee: Written;
  /** Address. */
  readonly sender: string;
  readonly senderPublicKey: string;
  /** Address of the recipient, or of the sender if the type has no recipient. */
  readonly recipient: string;
  readonly signature?: string;
  /** Signature of the second passphrase. */
  readonly signSignature?: string;
  /** Signatures of the members of a multi-signature wallet. */
  readonly signatures?: readonly string[];
  readonly vendorField?: string;
  /** Content that depends on the type. */
  readonly asset?: Readonly<Record<string, unknown>>;
  /** Number of blocks from its own to the head, both included; 0 while pending. */
  readonly confirmations: number;
  /** Timestamp of its block. */
  readonly timestamp?: Timestamp;
  /** Decimal text. */
  readonly nonce?: string;
  /** Disclosed name of the delegate that receives the vote; only in the list of all transactions. */
  readonly unikname?: string;
};

/** `GET /transactions/{id}`: amounts are numbers, and there always is an asset. */
export type SingleTransaction = Transaction<WholeAmount> & Required<Pick<Transaction, "asset">>;

/** A transaction as it was signed; submitted transactions have this form, too. */
export type RawTransaction = {
  readonly id: string;
  readonly version: number;
  /** Version byte of addresses, which identifies the network. */
  readonly network: number;
  readonly type: number;
  /** Absent for 1. */
  readonly typeGroup?: number;
  readonly nonce?: string;
  readonly timestamp?: number;
  readonly senderPublicKey: string;
  readonly recipientId?: string;
  readonly amount: Amount;
  readonly fee: Amount;
  readonly asset?: Readonly<Record<string, unknown>>;
  readonly vendorField?: string;
  readonly expiration?: number;
  readonly signature?: string;
  readonly secondSignature?: string;
  readonly signatures?: readonly string[];
};

/** Query of a list of transactions, each of which has its own filters. */
export type TransactionQuery<Filter = TransactionFilter> = TransformQuery &
  Filter & { readonly orderBy?: TransactionOrder };

export type TransactionSearch = TransactionSearchFilter & { readonly orderBy?: TransactionOrder };

/** Outcome of the posted transactions, by their ids. */
export type Submission = {
  readonly data: {
    /** Ids of transactions that are in the pool. */
    readonly accept: readonly string[];
    /** Relayed to peers. */
    readonly broadcast: readonly string[];
    /** The sender has too many in the pool already. */
    readonly excess: readonly string[];
    /** Refused. */
    readonly invalid: readonly string[];
  };
  /** Reasons of refusals, by id. */
  readonly errors?: Readonly<Record<string, readonly { readonly type: string; readonly message: string }[]>>;
};

export const transactions = (send: Send) => ({
  list: <const Q extends TransactionQuery>(query?: Q) =>
    createList<Transformed<Q, Transaction, RawTransaction>>(send, { path: "/transactions", query }),

  /** Gets a forged transaction; transactions in the pool are `API_NOT_FOUND`. */
  get: <const Q extends TransformQuery>(id: string, query?: Q) =>
    send<ApiResponse<Transformed<Q, SingleTransaction, RawTransaction>, WithChainmeta>>({
      path: path`/transactions/${id}`,
      query,
    }),

  /** Gets a proof that a final block contains a transaction; `verifyProof` verifies it. */
  proof: (id: string, query?: ProofQuery) =>
    send<ApiResponse<Proof>>({ path: path`/transactions/${id}/proof`, query }),

  /** Submits 1 to 40 signed transactions. It succeeds even if transactions are refused: check the result. */
  submit: (transactions: readonly object[]) =>
    send<Submission>({ method: "POST", path: "/transactions", body: { transactions } }),

  search: <const Q extends TransformQuery>(search: TransactionSearch, query?: Q) =>
    createList<Transformed<Q, Transaction, RawTransaction>>(send, {
      method: "POST",
      path: "/transactions/search",
      body: search,
      query,
    }),

  /** Lists the transactions of the pool, in forging order. */
  unconfirmed: <const Q extends TransformQuery>(query?: Q) =>
    createList<Transformed<Q, Transaction, RawTransaction>>(send, {
      path: "/transactions/unconfirmed",
      query,
    }),

  getUnconfirmed: <const Q extends TransformQuery>(id: string, query?: Q) =>
    send<ApiResponse<Transformed<Q, Transaction, RawTransaction>>>({
      path: path`/transactions/unconfirmed/${id}`,
      query,
    }),

  /** Type numbers by group and name. */
  types: () => send<ApiResponse<FeesByType<number>>>({ path: "/transactions/types" }),

  /** JSON schemas by group and type number. */
  schemas: () =>
    send<ApiResponse<FeesByType<Readonly<Record<string, unknown>>>>>({ path: "/transactions/schemas" }),

  /** Static fees by group and name. */
  fees: () => send<ApiResponse<FeesByType<Amount>>>({ path: "/transactions/fees" }),
});
