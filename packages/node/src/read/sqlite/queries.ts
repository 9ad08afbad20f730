/** All reads of the serving process. Prepared once; must be called inside a snapshot. */
import type { Network } from "@uniknode/protocol";
import type { Database } from "../../store/engine/database.ts";
import { foundationOf } from "../foundation.ts";
import { type BlockQueries, createBlockQueries } from "./blocks.ts";
import { type ChainQueries, createChainQueries } from "./chain.ts";
import { createDelegateQueries, type DelegateQueries } from "./delegates.ts";
import { createEntityQueries, type EntityQueries } from "./entities.ts";
import { createFeeQueries, type FeeQueries } from "./fees.ts";
import { createRankings, NO_RANKINGS, type RankingDependencies } from "./lists/rankings.ts";
import type { ReadTime } from "./lists/read-time.ts";
import { createStretches } from "./lists/stretches.ts";
import { createLockQueries, type LockQueries } from "./locks.ts";
import { createRoundQueries, type RoundQueries } from "./rounds.ts";
import { createTokenQueries, type TokenQueries } from "./tokens.ts";
import { createTransactionQueries, type TransactionQueries } from "./transactions.ts";
import { createWalletQueries, type WalletQueries } from "./wallets.ts";

export type Queries = {
  readonly blocks: BlockQueries;
  readonly chain: ChainQueries;
  readonly delegates: DelegateQueries;
  readonly entities: EntityQueries;
  readonly fees: FeeQueries;
  readonly locks: LockQueries;
  readonly rounds: RoundQueries;
  readonly tokens: TokenQueries;
  readonly transactions: TransactionQueries;
  readonly wallets: WalletQueries;
};

export type RankingOptions = {
  /** Builds rankings (`lists/rankings.ts`) in another thread. If absent, long lists are sorted at every read. */
  readonly build?: RankingDependencies["build"] | undefined;
  /** Minimum number of rows for which a ranking is built. */
  readonly minRanked?: number | undefined;
  /** Maximum share of the time that is spent building rankings. Default: one half. */
  readonly maxShare?: number | undefined;
};

export type QueryOptions = {
  /** Time limit for reading one list. */
  readonly time: ReadTime;
  readonly rankings?: RankingOptions | undefined;
};

/** Sorting fewer rows than this is faster than reading a page of a ranking. */
const MIN_RANKED = 5_000;
/** All seven orders of a million transactions use 75 MB (docs/decisions/0018-keep-unindexed-sort-orders-in-memory.md). */
const MAX_RANKING_BYTES = 96 * 2 ** 20;

export function createQueries(
  database: Database,
  network: Network,
  { time, rankings: { build, minRanked = MIN_RANKED, maxShare } = {} }: QueryOptions,
): Queries {
  const stretches = createStretches(database, time);
  const rankings = build
    ? createRankings({ maxBytes: MAX_RANKING_BYTES, maxShare }, { database, build })
    : NO_RANKINGS;
  const blocks = createBlockQueries({ database, time, stretches });
  return {
    blocks,
    chain: createChainQueries(database),
    delegates: createDelegateQueries(database),
    entities: createEntityQueries(database),
    fees: createFeeQueries(database),
    locks: createLockQueries(database),
    rounds: createRoundQueries(database),
    tokens: createTokenQueries({ database, time, stretches }),
    transactions: createTransactionQueries(database, {
      foundation: foundationOf(network),
      heightAt: blocks.heightAt,
      stretches,
      rankings,
      minRanked,
    }),
    wallets: createWalletQueries({ database, time, stretches }),
  };
}
