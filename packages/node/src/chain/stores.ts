/** The tables that the chain writes. */
import { type BlockStore, createBlockStore } from "../store/chain/blocks.ts";
import { type FeedChanges, openFeedChanges } from "../store/chain/feed-changes.ts";
import { createTransactionStore, type TransactionStore } from "../store/chain/transactions.ts";
import type { Database } from "../store/engine/database.ts";
import type { EventLog } from "../store/events/event-log.ts";
import { type HistoryWriter, openHistory } from "../store/history/writer.ts";
import { createMetaStore, type MetaStore } from "../store/node/meta.ts";
import { createStateStore, createUndoStore, type StateStore, type UndoStore } from "../store/state/state.ts";
import { Assumption, type Pin } from "./assumption.ts";

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
  const meta = createMetaStore(database);
  const assumption = new Assumption(meta, assumeValid);
  const blocks = createBlockStore(database);
  return {
    database,
    events,
    meta,
    assumption,
    blocks,
    transactions: createTransactionStore(database),
    state: createStateStore(database, options),
    undo: createUndoStore(database),
    feed: openFeedChanges(database, options.feedBlocks, blocks.head()?.height ?? 0),
    history: openHistory(database, options.recordsHistory),
  };
}
