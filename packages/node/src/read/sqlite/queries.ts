/** Every read of the serving side. Prepared once; to be called inside a snapshot. */
import { addressFromPublicKey, type Network } from "@uniknode/protocol";
import type { Database } from "../../store/engine/database.ts";
import { type BlockQueries, createBlockQueries } from "./blocks.ts";
import { type ChainQueries, createChainQueries } from "./chain.ts";
import { createDelegateQueries, type DelegateQueries } from "./delegates.ts";
import { createEntityQueries, type EntityQueries } from "./entities.ts";
import { createFeeQueries, type FeeQueries } from "./fees.ts";
import { createLockQueries, type LockQueries } from "./locks.ts";
import type { ReadTime } from "./pages/read-time.ts";
import { createStretches } from "./pages/stretches.ts";
import { createRankings, NO_RANKINGS, type RankingDependencies } from "./rankings/rankings.ts";
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
  /** Makes rankings (`rankings/rankings.ts`) in another thread. Absent: long lists are sorted whenever they are read. */
  readonly build?: RankingDependencies["build"] | undefined;
  /** Rows from which on a ranking is made of them. */
  readonly minRanked?: number | undefined;
  /** Part of the time in which one may be being made; absent: a half. */
  readonly maxShare?: number | undefined;
};

export type QueryOptions = {
  /** For the rows of one list. */
  readonly time: ReadTime;
  readonly rankings?: RankingOptions | undefined;
};

/** Fewer rows are sorted in less time than a ranking's page takes. */
const MIN_RANKED = 5_000;
/** All seven orders of a million transactions take 75 MB (docs/decisions/0018-keep-unindexed-sort-orders-in-memory.md). */
const MAX_RANKING_BYTES = 96 * 2 ** 20;

export function createQueries(
  database: Database,
  { description, milestones }: Network,
  { time, rankings: { build, minRanked = MIN_RANKED, maxShare } = {} }: QueryOptions,
): Queries {
  const stretches = createStretches(database, time);
  const rankings = build
    ? createRankings({ maxBytes: MAX_RANKING_BYTES, maxShare }, { database, build })
    : NO_RANKINGS;
  const { foundation, pubKeyHash } = description;
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
      foundation: foundation && addressFromPublicKey(foundation.publicKey, pubKeyHash),
      foundationUntil: milestones.find(({ unsTokenEcoV3 }) => unsTokenEcoV3)?.height,
      heightAt: blocks.heightAt,
      stretches,
      rankings,
      minRanked,
    }),
    wallets: createWalletQueries({ database, time, stretches }),
  };
}
