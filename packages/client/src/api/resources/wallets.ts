/** `/wallets` (http-api.md 6.5). */

import { createList } from "../list.ts";
import type {
  BalanceFilter,
  BalanceOrder,
  LockOrder,
  ReceivedTransactionFilter,
  RichestWalletFilter,
  SentTransactionFilter,
  WalletFilter,
  WalletLockFilter,
  WalletOrder,
  WalletSearchFilter,
  WalletTransactionFilter,
} from "../list-filters.ts";
import { path } from "../request.ts";
import type {
  Amount,
  ApiResponse,
  AtQuery,
  Timestamp,
  Transformed,
  TransformQuery,
  WholeAmount,
  WithChainmeta,
} from "../responses.ts";
import type { Send } from "../send.ts";
import type { Lock } from "./locks.ts";
import type { RawTransaction, Transaction, TransactionQuery } from "./transactions.ts";
import type { Nft, TokenQuery, Unik } from "./uniks.ts";

export type Wallet = {
  readonly address: string;
  /** Absent for a wallet that has sent nothing yet. */
  readonly publicKey?: string;
  /** Username of a delegate. */
  readonly username?: string;
  readonly secondPublicKey?: string;
  /** Number of transactions sent; the next one has this plus 1. */
  readonly nonce: string;
  /** Smallest unit. */
  readonly balance: Amount;
  /** Balance in open locks. */
  readonly lockedBalance?: Amount;
  readonly attributes: WalletAttributes;
  readonly isDelegate: boolean;
  readonly isResigned: boolean;
  /** Public key of the delegate that it votes for. */
  readonly vote?: string;
  readonly multiSignature?: { readonly publicKeys: readonly string[]; readonly min: number };
};

/** `GET /wallets/{id}`: the balance is a number, and some members are always there. */
export type SingleWallet = Omit<Wallet, "publicKey" | "username" | "secondPublicKey" | "balance"> & {
  /** Empty for a wallet that has sent nothing yet. */
  readonly publicKey: string;
  /** Empty for no delegate. */
  readonly username: string;
  readonly secondPublicKey: string | null;
  readonly balance: WholeAmount;
};

/** Data of the wallet besides its balance; absent members are not set. */
export type WalletAttributes = {
  readonly vote?: string;
  readonly secondPublicKey?: string;
  /** Tokens by id, in order of arrival. */
  readonly tokens?: Readonly<Record<string, { readonly type: number }>>;
  readonly delegate?: {
    readonly username: string;
    readonly type?: number;
    readonly voteBalance: Amount;
    readonly forgedFees: Amount;
    readonly forgedRewards: Amount;
    readonly producedBlocks: number;
    readonly rank?: number;
    readonly resigned?: true;
    readonly [member: string]: unknown;
  };
  readonly [member: string]: unknown;
};

/** The balance of a wallet after a block. */
export type Balance = { readonly height: number; readonly timestamp: Timestamp; readonly balance: Amount };

export type WalletQuery = WalletFilter & { readonly orderBy?: WalletOrder };

/** `id` is an address, a public key, or the username of a delegate. */
export const wallets = (send: Send) => ({
  list: (query?: WalletQuery) => createList<Wallet, WithChainmeta>(send, { path: "/wallets", query }),

  /** Lists the richest wallets first, regardless of the order in the query. */
  top: (query?: RichestWalletFilter & { readonly orderBy?: WalletOrder }) =>
    createList<Wallet>(send, { path: "/wallets/top", query }),

  get: (id: string, query?: AtQuery) =>
    send<ApiResponse<SingleWallet, WithChainmeta>>({ path: path`/wallets/${id}`, query }),

  /** Lists the balance after each block that changed the wallet. Only nodes with `--history full` have it. */
  history: (id: string, query?: BalanceFilter & { readonly orderBy?: BalanceOrder }) =>
    createList<Balance>(send, { path: path`/wallets/${id}/history`, query }),

  /** Lists the transactions in which the wallet takes part. */
  transactions: <const Q extends TransactionQuery<WalletTransactionFilter>>(id: string, query?: Q) =>
    createList<Transformed<Q, Transaction, RawTransaction>>(send, {
      path: path`/wallets/${id}/transactions`,
      query,
    }),

  sent: <const Q extends TransactionQuery<SentTransactionFilter>>(id: string, query?: Q) =>
    createList<Transformed<Q, Transaction, RawTransaction>>(send, {
      path: path`/wallets/${id}/transactions/sent`,
      query,
    }),

  received: <const Q extends TransactionQuery<ReceivedTransactionFilter>>(id: string, query?: Q) =>
    createList<Transformed<Q, Transaction, RawTransaction>>(send, {
      path: path`/wallets/${id}/transactions/received`,
      query,
    }),

  votes: <const Q extends TransformQuery>(id: string, query?: Q) =>
    createList<Transformed<Q, Transaction, RawTransaction>>(send, {
      path: path`/wallets/${id}/votes`,
      query,
    }),

  locks: (id: string, query?: WalletLockFilter & { readonly orderBy?: LockOrder }) =>
    createList<Lock>(send, { path: path`/wallets/${id}/locks`, query }),

  uniks: (id: string, query?: TokenQuery) =>
    createList<Unik, WithChainmeta>(send, { path: path`/wallets/${id}/uniks`, query }),

  nfts: (id: string, query?: TokenQuery) =>
    createList<Nft, WithChainmeta>(send, { path: path`/wallets/${id}/nfts`, query }),

  search: (search: WalletSearchFilter, query?: { readonly orderBy?: WalletOrder }) =>
    createList<Wallet>(send, { method: "POST", path: "/wallets/search", body: search, query }),
});
