/** The tables that the chain writes. */
import type { BlockStore } from "../store/blocks.ts";
import type { Database } from "../store/database.ts";
import type { EventLog } from "../store/events.ts";
import type { MetaStore } from "../store/meta.ts";
import type { StateStore } from "../store/state.ts";
import type { TransactionStore } from "../store/transactions.ts";
import type { UndoStore } from "../store/undo.ts";

export type ChainStores = {
  readonly database: Database;
  readonly meta: MetaStore;
  readonly blocks: BlockStore;
  readonly transactions: TransactionStore;
  readonly state: StateStore;
  readonly undo: UndoStore;
  readonly events: EventLog;
};
