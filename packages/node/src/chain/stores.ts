/** The tables that the chain writes: opens them, writes the genesis block, and checks that a database belongs to the chain. */

import { statSync } from "node:fs";
import { dirname } from "node:path";
import { applyGenesis, createDraft } from "@uniknode/ledger";
import { type Block, type BlockHeader, encodeHeader, type Network } from "@uniknode/protocol";
import { BlockStore } from "../store/chain/blocks.ts";
import { type FeedChanges, openFeedChanges } from "../store/chain/feed-changes.ts";
import { TransactionStore } from "../store/chain/transactions.ts";
import { type Database, openDatabase } from "../store/engine/database.ts";
import type { EventLog } from "../store/events/event-log.ts";
import { type HistoryWriter, openHistory } from "../store/history/writer.ts";
import { MetaStore } from "../store/node/meta.ts";
import { createPoolStore, type PoolStore } from "../store/node/pool.ts";
import { StateStore, UndoStore } from "../store/state/state.ts";
import { Assumption, type Pin } from "./assumption.ts";
import { ChainError } from "./outcome.ts";

export type ChainStores = {
  readonly database: Database;
  readonly meta: MetaStore;
  readonly blocks: BlockStore;
  readonly transactions: TransactionStore;
  readonly state: StateStore;
  readonly undo: UndoStore;
  /** Undefined: the feed is disabled. */
  readonly feed: FeedChanges | undefined;
  /** Undefined: earlier states are not recorded. */
  readonly history: HistoryWriter | undefined;
  readonly events: EventLog;
  readonly assumption: Assumption;
  /** Rows of the pool: a revert adds its transactions. */
  readonly pool: PoolStore;
};

/** @throws {ChainError} CHAIN_UNCHECKED */
export function openStores(
  options: {
    readonly cacheSize: number;
    readonly feedBlocks: number;
    readonly recordsHistory: boolean;
  },
  {
    database,
    events,
    assumeValid,
  }: Pick<ChainStores, "database" | "events"> & { readonly assumeValid?: Pin | undefined },
): ChainStores {
  const meta = new MetaStore(database);
  const assumption = new Assumption(meta, assumeValid);
  const blocks = new BlockStore(database);
  return {
    database,
    events,
    meta,
    assumption,
    blocks,
    transactions: new TransactionStore(database),
    state: new StateStore(database, options),
    undo: new UndoStore(database),
    feed: openFeedChanges(database, options.feedBlocks, blocks.head()?.height ?? 0),
    history: openHistory(database, options.recordsHistory),
    pool: createPoolStore(database),
  };
}

/**
 * Refuses the database of another network. Must be called while its folder is locked, before anything is written to
 * the folder.
 *
 * @param path of the database, of this version or an earlier one; it may be missing or empty
 * @throws {ChainError} CHAIN_NETWORK_MISMATCH
 * @throws {Error} of the driver if the file cannot be read
 */
export function refuseOtherNetwork(path: string, network: Network): void {
  const known = storedNethash(path);
  if (known !== undefined && known !== network.description.nethash)
    throw otherNetwork(`the data folder ${dirname(path)}`, known, network);
}

/** Returns the nethash of the chain in a database; undefined without a database or a chain. */
export function storedNethash(path: string): string | undefined {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return undefined;
  const database = openDatabase(path, { readonly: true });
  try {
    const hasMeta = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get();
    return hasMeta ? new MetaStore(database).read("nethash") : undefined;
  } finally {
    database.close();
  }
}

const otherNetwork = (
  where: string,
  known: string | undefined,
  { description: { nethash, name } }: Network,
) =>
  new ChainError(
    "CHAIN_NETWORK_MISMATCH",
    `${where} holds the chain of another network (nethash ${known}), not of ${name} (${nethash}): choose another folder with --data`,
  );

/**
 * Returns the head of the database; an empty database gets the genesis block. The cost does not depend on the
 * length of the chain, except of the first start that records the history, which reads all wallets.
 *
 * @throws {ChainError} CHAIN_GENESIS_MISMATCH, CHAIN_NETWORK_MISMATCH
 */
export function openHead(stores: ChainStores, network: Network, genesis: Block): BlockHeader {
  const { nethash, name } = network.description;
  if (genesis.header.payloadHash !== nethash) {
    throw new ChainError(
      "CHAIN_GENESIS_MISMATCH",
      `the genesis block has the payload hash ${genesis.header.payloadHash}, but the nethash of ${name} is ${nethash}`,
    );
  }
  const head = stores.blocks.head();
  if (!head) return storeGenesis(stores, network, genesis);
  const known = stores.meta.read("nethash");
  if (known !== nethash || stores.blocks.header(1)?.id !== genesis.header.id) {
    throw otherNetwork("the database", known, network);
  }
  stores.history?.begin(head.height);
  return head;
}

/**
 * Stores the genesis block without verification (blocks.md 10). It has no undo record, because no block is
 * below it.
 */
export function storeGenesis(stores: ChainStores, network: Network, genesis: Block): BlockHeader {
  const { database, meta, blocks, transactions, state, history } = stores;
  const draft = createDraft(state);
  applyGenesis(draft, network, genesis);
  database.transaction(() => {
    meta.write("nethash", network.description.nethash);
    blocks.append({ header: genesis.header, headerBytes: encodeHeader(genesis.header, network) });
    transactions.append(genesis);
    state.write(draft.changes());
    state.flush();
    history?.begin(genesis.header.height);
  });
  return genesis.header;
}
