/** `/locks`: amounts that wait for a secret, or for their expiration (http-api.md 6.10). */

import { createList } from "../list.ts";
import { path } from "../request.ts";
import type { Amount, ApiResponse, Integer, Interval, OrderBy, Timestamp } from "../responses.ts";
import type { Send } from "../send.ts";
import type { Transaction, TransactionOrder } from "./transactions.ts";

export type Lock = {
  /** Id of the transaction that locked the amount. */
  readonly lockId: string;
  readonly amount: Amount;
  readonly secretHash: string;
  readonly senderPublicKey: string;
  readonly recipientId: string;
  readonly timestamp: Timestamp;
  /** 1: seconds since the epoch of the network; 2: a height. */
  readonly expirationType: 1 | 2;
  readonly expirationValue: number;
  readonly isExpired: boolean;
  readonly vendorField?: string;
};

export type LockOrder = OrderBy<
  | "amount"
  | "expirationType"
  | "expirationValue"
  | "isExpired"
  | "lockId"
  | "recipientId"
  | "secretHash"
  | "senderPublicKey"
  | "timestamp"
  | "vendorField"
>;

type LockFilter = {
  readonly recipientId?: string;
  readonly senderPublicKey?: string;
  readonly lockId?: string;
  readonly secretHash?: string;
  readonly expirationType?: 1 | 2;
  readonly isExpired?: boolean;
};

export type LockQuery = LockFilter & {
  readonly orderBy?: LockOrder;
  readonly amount?: Integer;
  readonly expirationValue?: Integer;
};

export type LockSearch = LockFilter & {
  readonly vendorField?: string;
  readonly amount?: Interval;
  readonly timestamp?: Interval;
  readonly expirationValue?: Interval;
};

export const locks = (send: Send) => ({
  list: (query?: LockQuery) => createList<Lock>(send, { path: "/locks", query }),

  get: (id: string) => send<ApiResponse<Lock>>({ path: path`/locks/${id}` }),

  search: (search: LockSearch, query?: { readonly orderBy?: LockOrder }) =>
    createList<Lock>(send, { method: "POST", path: "/locks/search", body: search, query }),

  /** The transactions that claimed or refunded these locks, 1 to 25. */
  unlocked: (ids: readonly string[], query?: { readonly orderBy?: TransactionOrder }) =>
    createList<Transaction>(send, { method: "POST", path: "/locks/unlocked", body: { ids }, query }),
});
