/** Every read of the serving side. Prepared once; to be called inside a snapshot. */
import { addressFromPublicKey, type Network } from "@uniknode/protocol";
import type { Database } from "../database.ts";
import { type BlockQueries, createBlockQueries } from "./blocks.ts";
import { type ChainQueries, createChainQueries } from "./chain.ts";
import { createDelegateQueries, type DelegateQueries } from "./delegates.ts";
import { createEntityQueries, type EntityQueries } from "./entities.ts";
import { createFeeQueries, type FeeQueries } from "./fees.ts";
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

export function createQueries(database: Database, { description, milestones }: Network): Queries {
  const { foundation, pubKeyHash } = description;
  const blocks = createBlockQueries(database);
  return {
    blocks,
    chain: createChainQueries(database),
    delegates: createDelegateQueries(database),
    entities: createEntityQueries(database),
    fees: createFeeQueries(database),
    locks: createLockQueries(database),
    rounds: createRoundQueries(database),
    tokens: createTokenQueries(database),
    transactions: createTransactionQueries(database, {
      foundation: foundation && addressFromPublicKey(foundation.publicKey, pubKeyHash),
      foundationUntil: milestones.find(({ unsTokenEcoV3 }) => unsTokenEcoV3)?.height,
      heightAt: blocks.heightAt,
    }),
    wallets: createWalletQueries(database),
  };
}
