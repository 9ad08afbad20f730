/** Every read of the serving side. Prepared once; to be called inside a snapshot. */
import type { Network } from "@uniknode/protocol";
import type { Database } from "../database.ts";
import { type BlockQueries, createBlockQueries } from "./blocks.ts";
import { type ChainQueries, createChainQueries } from "./chain.ts";
import { createDelegateQueries, type DelegateQueries } from "./delegates.ts";
import { createFeeQueries, type FeeQueries } from "./fees.ts";
import { createTokenQueries, type TokenQueries } from "./tokens.ts";
import { createTransactionQueries, type TransactionQueries } from "./transactions.ts";
import { createWalletQueries, type WalletQueries } from "./wallets.ts";

export type Queries = {
  readonly blocks: BlockQueries;
  readonly chain: ChainQueries;
  readonly delegates: DelegateQueries;
  readonly fees: FeeQueries;
  readonly tokens: TokenQueries;
  readonly transactions: TransactionQueries;
  readonly wallets: WalletQueries;
};

export const createQueries = (database: Database, network: Network): Queries => ({
  blocks: createBlockQueries(database),
  chain: createChainQueries(database),
  delegates: createDelegateQueries(database),
  fees: createFeeQueries(database),
  tokens: createTokenQueries(database),
  transactions: createTransactionQueries(database, network.description.pubKeyHash),
  wallets: createWalletQueries(database),
});
