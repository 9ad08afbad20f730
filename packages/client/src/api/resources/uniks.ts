/** `/uniks` and `/nfts`: tokens, of which each is the only one of its kind (http-api.md 6.12). */

import { createList } from "../list.ts";
import type { TokenOrder, TokenSearchFilter } from "../list-filters.ts";
import { path } from "../request.ts";
import type { ApiResponse, AtQuery, WithChainmeta } from "../responses.ts";
import type { Send } from "../send.ts";
import type { FactsCheckpoint } from "./facts.ts";

/** A token as `/nfts` returns it. */
export type Nft = {
  /** 64 hexadecimal digits. */
  readonly id: string;
  /** Address. */
  readonly ownerId: string;
};

export type Unik = Nft & {
  /** 1: individual, 2: organization, 3: network. */
  readonly type?: string;
  /** Names that were disclosed. */
  readonly explicitValues?: readonly string[];
  /** The first explicit value. */
  readonly defaultExplicitValue?: string;
};

export type WithTransactions = {
  readonly transactions: {
    /** The transaction that minted the token. */
    readonly first: { readonly id: string };
    /** The last one that changed it. */
    readonly last: { readonly id: string };
  };
};

/** Exactly one member: the key and its value. */
export type Property = Readonly<Record<string, string>>;

export type TokenStatus = {
  readonly nftName: string;
  /** Number of tokens of each type; decimal text. */
  readonly individual: string;
  readonly organization: string;
  readonly network: string;
};

/** All properties of a unik whose digests of names share as many first bits with `from` as the page has siblings. */
export type PropertyPage = {
  /** Digest, hexadecimal. */
  readonly from: string;
  /** Nodes beside the path to the page, from the root of the properties down; null: empty. */
  readonly siblings: readonly (string | null)[];
  readonly properties: Readonly<Record<string, string>>;
};

/** A unik after a final round, with the path from its value to a signed checkpoint (facts.md 11). Digests are hexadecimal. */
export type UnikResolution = {
  readonly id: string;
  /** Owner, and root of the map of properties; null if the unik did not exist. */
  readonly unik: { readonly owner: string; readonly properties: string } | null;
  readonly pages: readonly PropertyPage[];
  readonly path: {
    /** Nodes beside the path, from the root down; null: empty. */
    readonly siblings: readonly (string | null)[];
    /** The leaf at the end of the path; null: none. Another key proves that the unik did not exist. */
    readonly end: { readonly key: string; readonly value: string } | null;
  };
  readonly map: {
    /** The last block of the round. */
    readonly height: number;
    readonly blockId: string;
    readonly round: number;
    readonly root: string;
    /** Number of uniks. */
    readonly uniks: number;
  };
  /** The leaf of the tree of facts with the root of the map. */
  readonly leaf: {
    readonly index: number;
    /** Index in its block. */
    readonly indexInBlock: number;
    /** Hashes from the leaf up (RFC 6962). */
    readonly proof: readonly string[];
  };
  readonly checkpoint: FactsCheckpoint;
};

export type TokenQuery = { readonly orderBy?: TokenOrder };

export type TokenSearch = TokenSearchFilter & { readonly orderBy?: TokenOrder };

/** The routes of a kind of token. */
const tokens = <Summary extends Nft>(send: Send, base: "/uniks" | "/nfts") => ({
  list: (query?: TokenQuery) => createList<Summary>(send, { path: base, query }),

  get: (id: string, query?: AtQuery) =>
    send<ApiResponse<Summary & WithTransactions, WithChainmeta>>({ path: `${base}${path`/${id}`}`, query }),

  properties: (id: string, query?: AtQuery) =>
    createList<Property, WithChainmeta>(send, { path: `${base}${path`/${id}/properties`}`, query }),

  property: (id: string, key: string, query?: AtQuery) =>
    send<ApiResponse<string, WithChainmeta>>({ path: `${base}${path`/${id}/properties/${key}`}`, query }),

  search: (search: TokenSearch) =>
    createList<Summary>(send, { method: "POST", path: `${base}/search`, body: search }),
});

export const uniks = (send: Send) => ({
  ...tokens<Unik>(send, "/uniks"),
  /**
   * A unik with its proof, not verified: `resolve` of the client verifies it.
   *
   * @param from digests (SHA-256) of the names of properties from which pages begin, at most 16. Default: 0, for the first page, `type` and
   * `LifeCycle/Status`
   */
  resolution: (id: string, from?: readonly string[]) =>
    send<ApiResponse<UnikResolution>>({ path: path`/uniks/${id}/resolve`, query: { from: from?.join() } }),
});

export const nfts = (send: Send) => ({
  ...tokens<Nft>(send, "/nfts"),
  /** Counts of each kind of token. */
  status: () => send<ApiResponse<readonly TokenStatus[], WithChainmeta>>({ path: "/nfts/status" }),
});
