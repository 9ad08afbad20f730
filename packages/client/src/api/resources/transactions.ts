/** `/transactions` (http-api.md 6.4). */
import type {
  Amount,
  Answer,
  Integer,
  Interval,
  OrderBy,
  Timestamp,
  Transformed,
  TransformQuery,
  WholeAmount,
  WithChainmeta,
} from "../answers.ts";
import { createList } from "../list.ts";
import { path } from "../request.ts";
import type { Send } from "../send.ts";
import type { FeesByType } from "./node.ts";

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
  /** Address; that of the sender where the type has no recipient. */
  readonly recipient: string;
  readonly signature?: string;
  /** Of the second passphrase. */
  readonly signSignature?: string;
  /** Of the members of a multi-signature wallet. */
  readonly signatures?: readonly string[];
  readonly vendorField?: string;
  /** What is particular to the type. */
  readonly asset?: Readonly<Record<string, unknown>>;
  /** Blocks from its own to the head, both counted; 0 while it waits. */
  readonly confirmations: number;
  /** Of its block. */
  readonly timestamp?: Timestamp;
  /** Decimal text. */
  readonly nonce?: string;
  /** In the list of all transactions: name of the delegate that is voted for, if it disclosed one. */
  readonly unikname?: string;
};

/** `GET /transactions/{id}`: amounts are numbers, and there always is an asset. */
export type SingleTransaction = Transaction<WholeAmount> & Required<Pick<Transaction, "asset">>;

/** As it was signed; what is posted has this form, too. */
export type RawTransaction = {
  readonly id: string;
  readonly version: number;
  /** Of the address: the network that it is for. */
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

export type TransactionOrder = OrderBy<
  "amount" | "fee" | "nonce" | "timestamp" | "type" | "typeGroup" | "vendorField" | "version"
>;

/** Filters of every list of transactions; each that is given must be met. */
export type TransactionQuery = TransformQuery & {
  readonly orderBy?: TransactionOrder;
  readonly id?: string;
  readonly blockId?: string;
  readonly version?: number;
  readonly timestamp?: Integer;
  readonly amount?: Integer;
  readonly fee?: Integer;
  /** A part of it. */
  readonly vendorField?: string;
};
/** Without `typeGroup`, types of group 1. */
export type TypeQuery = { readonly type?: number; readonly typeGroup?: number; readonly nonce?: Integer };
export type SenderQuery = { readonly senderPublicKey?: string; readonly senderId?: string };
export type RecipientQuery = { readonly recipientId?: string };

export type TransactionSearch = TypeQuery &
  SenderQuery &
  RecipientQuery & {
    readonly orderBy?: TransactionOrder;
    readonly id?: string;
    readonly blockId?: string;
    readonly version?: number;
    /** 1 to 50; as sender or as recipient. */
    readonly addresses?: readonly string[];
    readonly vendorField?: string;
    readonly timestamp?: Interval;
    readonly amount?: Interval;
    readonly fee?: Interval;
    /** Every member that is given must be there. */
    readonly asset?: Readonly<Record<string, unknown>>;
  };

/** What became of the transactions that were posted, by their ids. */
export type Submission = {
  readonly data: {
    /** In the pool. */
    readonly accept: readonly string[];
    /** Relayed to peers. */
    readonly broadcast: readonly string[];
    /** The sender has too many in the pool already. */
    readonly excess: readonly string[];
    /** Refused. */
    readonly invalid: readonly string[];
  };
  /** Why, by id. */
  readonly errors?: Readonly<Record<string, readonly { readonly type: string; readonly message: string }[]>>;
};

export const transactions = (send: Send) => ({
  list: <const Q extends TransactionQuery & TypeQuery & SenderQuery & RecipientQuery>(query?: Q) =>
    createList<Transformed<Q, Transaction, RawTransaction>>(send, { path: "/transactions", query }),

  /** A forged one; those in the pool are `API_NOT_FOUND`. */
  get: <const Q extends TransformQuery>(id: string, query?: Q) =>
    send<Answer<Transformed<Q, SingleTransaction, RawTransaction>, WithChainmeta>>({
      path: path`/transactions/${id}`,
      query,
    }),

  /** Signed transactions, 1 to 40. It succeeds although transactions are refused: check the answer. */
  submit: (transactions: readonly object[]) =>
    send<Submission>({ method: "POST", path: "/transactions", body: { transactions } }),

  search: <const Q extends TransformQuery>(search: TransactionSearch, query?: Q) =>
    createList<Transformed<Q, Transaction, RawTransaction>>(send, {
      method: "POST",
      path: "/transactions/search",
      body: search,
      query,
    }),

  /** Those in the pool, in the order of forging. */
  unconfirmed: <const Q extends TransformQuery>(query?: Q) =>
    createList<Transformed<Q, Transaction, RawTransaction>>(send, {
      path: "/transactions/unconfirmed",
      query,
    }),

  getUnconfirmed: <const Q extends TransformQuery>(id: string, query?: Q) =>
    send<Answer<Transformed<Q, Transaction, RawTransaction>>>({
      path: path`/transactions/unconfirmed/${id}`,
      query,
    }),

  /** Type numbers by group and name. */
  types: () => send<Answer<FeesByType<number>>>({ path: "/transactions/types" }),

  /** JSON schemas by group and type number. */
  schemas: () =>
    send<Answer<FeesByType<Readonly<Record<string, unknown>>>>>({ path: "/transactions/schemas" }),

  /** Static fees by group and name. */
  fees: () => send<Answer<FeesByType<Amount>>>({ path: "/transactions/fees" }),
});
