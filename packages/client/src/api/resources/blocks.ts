/** `/blocks` (http-api.md 6.3). */

import { createList } from "../list.ts";
import type { BlockFilter, BlockOrder, BlockSearchFilter, BlockTransactionFilter } from "../list-filters.ts";
import { path } from "../request.ts";
import type { Amount, ApiResponse, Timestamp, Transformed, TransformQuery } from "../responses.ts";
import type { Send } from "../send.ts";
import type { Proof, ProofQuery } from "./proofs.ts";
import type { RawTransaction, Transaction, TransactionQuery } from "./transactions.ts";

export type Block = {
  readonly id: string;
  readonly version: number;
  readonly height: number;
  /** Id of the previous block; `0` for the first. */
  readonly previous: string;
  readonly forged: {
    readonly reward: Amount;
    readonly fee: Amount;
    /** Reward and fees. */
    readonly total: Amount;
    /** Amount of the block's transactions. */
    readonly amount: Amount;
  } & Partial<CreatedRewards>;
  readonly payload: {
    readonly hash: string;
    /** Bytes. */
    readonly length: number;
  };
  /** The username is absent for a generator that is not a delegate. */
  readonly generator: { readonly username?: string; readonly address: string; readonly publicKey: string };
  readonly signature: string;
  /** Number of blocks on top of the block. */
  readonly confirmations: number;
  readonly transactions: number;
  readonly timestamp: Timestamp;
};

/** Only in the response for a single block with transactions: tokens that its mints of uniks created. */
export type CreatedRewards = { readonly unikMintRewards: Amount; readonly foundationRewards: Amount };

export type RawBlock = {
  readonly id: string;
  readonly version: number;
  /** Seconds since the epoch of the network. */
  readonly timestamp: number;
  readonly previousBlock: string;
  readonly height: number;
  readonly numberOfTransactions: number;
  readonly totalAmount: Amount;
  readonly totalFee: Amount;
  readonly reward: Amount;
  readonly payloadLength: number;
  readonly payloadHash: string;
  readonly generatorPublicKey: string;
  readonly blockSignature: string;
} & Partial<CreatedRewards>;

export type BlockQuery = TransformQuery & BlockFilter & { readonly orderBy?: BlockOrder };

export type BlockSearch = BlockSearchFilter & { readonly orderBy?: BlockOrder };

export const blocks = (send: Send) => ({
  list: <const Q extends BlockQuery>(query?: Q) =>
    createList<Transformed<Q, Block, RawBlock>>(send, { path: "/blocks", query }),

  first: <const Q extends TransformQuery>(query?: Q) =>
    send<ApiResponse<Transformed<Q, Block, RawBlock>>>({ path: "/blocks/first", query }),

  last: <const Q extends TransformQuery>(query?: Q) =>
    send<ApiResponse<Transformed<Q, Block, RawBlock>>>({ path: "/blocks/last", query }),

  /** Gets a block by id or height. */
  get: <const Q extends TransformQuery>(id: string | number, query?: Q) =>
    send<ApiResponse<Transformed<Q, Block, RawBlock>>>({ path: path`/blocks/${id}`, query }),

  /** Gets a proof that the block with this id or height is final; `verifyProof` verifies it. */
  proof: (id: string | number, query?: ProofQuery) =>
    send<ApiResponse<Proof>>({ path: path`/blocks/${id}/proof`, query }),

  /** Lists the transactions of the block with this id or height. */
  transactions: <const Q extends TransactionQuery<BlockTransactionFilter>>(id: string | number, query?: Q) =>
    createList<Transformed<Q, Transaction, RawTransaction>>(send, {
      path: path`/blocks/${id}/transactions`,
      query,
    }),

  search: <const Q extends TransformQuery>(search: BlockSearch, query?: Q) =>
    createList<Transformed<Q, Block, RawBlock>>(send, {
      method: "POST",
      path: "/blocks/search",
      body: search,
      query,
    }),
});
