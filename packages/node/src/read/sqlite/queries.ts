/** All reads of the serving process. Prepared once; must be called inside a snapshot. */
import type { Network } from "@uniknode/protocol";
import type { Database } from "../../store/engine/database.ts";
import { foundationOf } from "../foundation.ts";
import type { PlannerOptions } from "./lists/planner.ts";
import { createChunks, type TimeBox } from "./lists/time-box.ts";
import {
  createValueIndexes,
  NO_VALUE_INDEXES,
  type ValueIndexDependencies,
} from "./lists/value-index-cache.ts";
import { type BlockQueries, createBlockQueries } from "./tables/blocks.ts";
import {
  type ChainQueries,
  createChainQueries,
  createFeeQueries,
  createRoundQueries,
  type FeeQueries,
  type RoundQueries,
} from "./tables/chain.ts";
import { createHistoryQueries, type HistoryQueries } from "./tables/history.ts";
import { createTokenQueries, type TokenQueries } from "./tables/tokens.ts";
import { createTransactionQueries, type TransactionQueries } from "./tables/transactions.ts";
import {
  createDelegateQueries,
  createEntityQueries,
  createLockQueries,
  createWalletQueries,
  type DelegateQueries,
  type EntityQueries,
  type LockQueries,
  type WalletQueries,
} from "./tables/wallets.ts";

export type Queries = {
  readonly blocks: BlockQueries;
  readonly chain: ChainQueries;
  readonly delegates: DelegateQueries;
  readonly entities: EntityQueries;
  readonly fees: FeeQueries;
  readonly history: HistoryQueries;
  readonly locks: LockQueries;
  readonly rounds: RoundQueries;
  readonly tokens: TokenQueries;
  readonly transactions: TransactionQueries;
  readonly wallets: WalletQueries;
};

export type ValueIndexOptions = {
  /** Builds value indexes (`lists/value-index-cache.ts`) in another thread. If absent, long lists are sorted at every read. */
  readonly build?: ValueIndexDependencies["build"] | undefined;
  /** Minimum number of rows for which a value index is built. */
  readonly minIndexedRows?: number | undefined;
  /** Maximum share of the time that is spent building value indexes. Default: one half. */
  readonly maxShare?: number | undefined;
};

export type QueryOptions = {
  /** Time limit for reading one list. */
  readonly time: TimeBox;
  readonly valueIndexes?: ValueIndexOptions | undefined;
  readonly onPlan?: PlannerOptions["onPlan"];
};

/** Sorting fewer rows than this is faster than reading a page of a value index. */
const MIN_INDEXED_ROWS = 5_000;
/** All seven orders of a million transactions use 75 MB (docs/decisions/0018-keep-unindexed-sort-orders-in-memory.md). */
const MAX_VALUE_INDEX_BYTES = 96 * 2 ** 20;

export function createQueries(
  database: Database,
  network: Network,
  { time, onPlan, valueIndexes: { build, minIndexedRows = MIN_INDEXED_ROWS, maxShare } = {} }: QueryOptions,
): Queries {
  const chunksOf = createChunks(database, time);
  const valueIndexes = build
    ? createValueIndexes({ maxBytes: MAX_VALUE_INDEX_BYTES, maxShare }, { database, build })
    : NO_VALUE_INDEXES;
  const lists = { database, time, chunksOf, onPlan };
  const blocks = createBlockQueries(lists);
  return {
    blocks,
    chain: createChainQueries(database),
    delegates: createDelegateQueries(lists),
    entities: createEntityQueries(lists),
    fees: createFeeQueries(lists),
    history: createHistoryQueries(lists),
    locks: createLockQueries(lists),
    rounds: createRoundQueries(database),
    tokens: createTokenQueries(lists),
    transactions: createTransactionQueries(database, {
      foundation: foundationOf(network),
      heightAt: blocks.heightAt,
      chunksOf,
      valueIndexes,
      minIndexedRows,
      onPlan,
    }),
    wallets: createWalletQueries(lists),
  };
}
