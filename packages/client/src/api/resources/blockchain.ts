/** `/blockchain`, and the greeting of the node (http-api.md 6.1). */

import { path } from "../request.ts";
import type { Amount, ApiResponse, WholeAmount } from "../responses.ts";
import type { Send } from "../send.ts";

export type Blockchain = {
  /** The head. */
  readonly block: { readonly height: number; readonly id: string };
  /** Tokens in circulation, in the smallest unit. A number, as are the amounts of a single wallet or transaction. */
  readonly supply: WholeAmount;
};

/** Activity of the chain in equal intervals: a value for each of `times`. */
export type Activity = {
  readonly intervalSeconds: number;
  /** Start of each interval, seconds since 1970, ascending. The head is in the last one. */
  readonly times: readonly number[];
  readonly blocks: readonly number[];
  readonly transactions: readonly number[];
  readonly missedSlots: readonly number[];
  /** Absent if there are too many blocks to add up. */
  readonly fees?: readonly Amount[];
};

export type Identified =
  | { readonly kind: "block"; readonly id: string; readonly height: number }
  /** The id of a wallet is its address. */
  | { readonly kind: "transaction" | "unik" | "wallet"; readonly id: string };

export const blockchain = (send: Send) => ({
  /** Returns the activity of the last hours, 1 to 720. Default: 24. */
  activity: (query: { readonly hours?: number } = {}) =>
    send<ApiResponse<Activity>>({ path: "/blockchain/activity", query }),
  /** Returns blocks, transactions, wallets and uniks whose id or address begins with 4 to 64 letters and digits: at most five of each kind. */
  identifiers: (prefix: string) =>
    send<ApiResponse<readonly Identified[]>>({ path: path`/blockchain/identifiers/${prefix}` }),
  get: () => send<ApiResponse<Blockchain>>({ path: "/blockchain" }),
});
