/** The tables that the chain writes. */
import type { BlockStore } from "../store/chain/blocks.ts";
import type { FeedChanges } from "../store/chain/feed-changes.ts";
import type { TransactionStore } from "../store/chain/transactions.ts";
import type { Database } from "../store/engine/database.ts";
import type { EventLog } from "../store/events/event-log.ts";
import type { HistoryWriter } from "../store/history/writer.ts";
import type { MetaStore } from "../store/node/meta.ts";
import type { StateStore } from "../store/state/state.ts";
import type { UndoStore } from "../store/state/undo.ts";
import type { Assumption } from "./assumption.ts";

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
