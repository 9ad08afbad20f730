/** `/blockchain`, and the greeting of the node (http-api.md 6.1). */

import { path } from "../request.ts";
import type { ApiResponse, WholeAmount } from "../responses.ts";
import type { Send } from "../send.ts";

export type Blockchain = {
  /** The head. */
  readonly block: { readonly height: number; readonly id: string };
  /** Tokens in circulation, in the smallest unit. A number, as are the amounts of a single wallet or transaction. */
  readonly supply: WholeAmount;
};

export type Identified =
  | { readonly kind: "block"; readonly id: string; readonly height: number }
  /** The id of a wallet is its address. */
  | { readonly kind: "transaction" | "unik" | "wallet"; readonly id: string };

export const blockchain = (send: Send) => ({
  /** Returns blocks, transactions, wallets and uniks whose id or address begins with 4 to 64 letters and digits: at most five of each kind. */
  identifiers: (prefix: string) =>
    send<ApiResponse<readonly Identified[]>>({ path: path`/blockchain/identifiers/${prefix}` }),
  get: () => send<ApiResponse<Blockchain>>({ path: "/blockchain" }),
});
