/** `/delegates` (http-api.md 6.6). */

import { createList } from "../list.ts";
import type {
  BlockOrder,
  DelegateFilter,
  DelegateOrder,
  DelegateSearchFilter,
  ForgedBlockFilter,
  VoterFilter,
  WalletOrder,
} from "../list-filters.ts";
import { path } from "../request.ts";
import type { Amount, ApiResponse, AtQuery, Timestamp, Transformed, TransformQuery } from "../responses.ts";
import type { Send } from "../send.ts";
import type { Block, RawBlock } from "./blocks.ts";
import type { Wallet } from "./wallets.ts";

export type Delegate = {
  /** The first name that its unik disclosed; else the username. */
  readonly unikname: string;
  /** Id of its unik, or a name for delegates of the genesis. */
  readonly username: string;
  readonly type: "individual" | "organization" | "network" | "genesis";
  readonly address: string;
  readonly publicKey: string;
  /** Public key of the delegate that it votes for; empty for none. */
  readonly vote: string;
  /** The vote balance that counts. */
  readonly votes: Amount;
  /** Absent for a resigned one. */
  readonly rank?: number;
  readonly isResigned: boolean;
  readonly blocks: {
    readonly produced: number;
    readonly last?: { readonly id: string; readonly height: number; readonly timestamp: Timestamp };
  };
  readonly production: {
    /** Approval in per cent. */
    readonly approval: number;
  };
  readonly forged: { readonly fees: Amount; readonly rewards: Amount; readonly total: Amount };
};

export type DelegateQuery = DelegateFilter & {
  /** A number is a column, negative for descending (http-api.md D-05). */
  readonly orderBy?: DelegateOrder | number;
};

type ForgedBlockQuery = TransformQuery & ForgedBlockFilter & { readonly orderBy?: BlockOrder };

/** `id` is an address, a public key, or a username. */
export const delegates = (send: Send) => ({
  list: (query?: DelegateQuery) => createList<Delegate>(send, { path: "/delegates", query }),

  get: (id: string, query?: AtQuery) => send<ApiResponse<Delegate>>({ path: path`/delegates/${id}`, query }),

  /** Blocks that the delegate forged. */
  blocks: <const Q extends ForgedBlockQuery>(id: string, query?: Q) =>
    createList<Transformed<Q, Block, RawBlock>>(send, { path: path`/delegates/${id}/blocks`, query }),

  voters: (id: string, query?: VoterFilter & { readonly orderBy?: WalletOrder }) =>
    createList<Wallet>(send, { path: path`/delegates/${id}/voters`, query }),

  search: (search: DelegateSearchFilter, query?: { readonly orderBy?: DelegateOrder | number }) =>
    createList<Delegate>(send, { method: "POST", path: "/delegates/search", body: search, query }),
});
