/** `/locks`: amounts that wait for a secret, or for their expiration (http-api.md 6.10). */

import { createList } from "../list.ts";
import type { LockFilter, LockOrder, LockSearchFilter, TransactionOrder } from "../list-filters.ts";
import { path } from "../request.ts";
import type { Amount, ApiResponse, Timestamp } from "../responses.ts";
import type { Send } from "../send.ts";
import type { Transaction } from "./transactions.ts";

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

export type LockQuery = LockFilter & { readonly orderBy?: LockOrder };

export const locks = (send: Send) => ({
  list: (query?: LockQuery) => createList<Lock>(send, { path: "/locks", query }),

  get: (id: string) => send<ApiResponse<Lock>>({ path: path`/locks/${id}` }),

  search: (search: LockSearchFilter, query?: { readonly orderBy?: LockOrder }) =>
    createList<Lock>(send, { method: "POST", path: "/locks/search", body: search, query }),

  /** The transactions that claimed or refunded these locks, 1 to 25. */
  unlocked: (ids: readonly string[], query?: { readonly orderBy?: TransactionOrder }) =>
    createList<Transaction>(send, { method: "POST", path: "/locks/unlocked", body: { ids }, query }),
});
