/**
 * The read model over the database of the node. SQLite is synchronous, so every promise here is settled when it is
 * returned: the reads of all snapshots of one tick of the event loop share one transaction.
 */
import type { Network } from "@uniknode/protocol";
import type { Database } from "../../store/engine/database.ts";
import {
  type Head,
  type History,
  type PastState,
  type QueriesOf,
  type ReadModel,
  type Snapshot,
  SnapshotError,
} from "../port.ts";
import { foundationOf } from "../transaction-rules.ts";
import type { PlannerOptions } from "./lists/planner.ts";
import type { ListDependencies } from "./lists/table-list.ts";
import { createChunks, type TimeBox } from "./lists/time-box.ts";
import {
  createValueIndexes,
  NO_VALUE_INDEXES,
  type ValueIndexDependencies,
} from "./lists/value-index-cache.ts";
import { createBlockQueries } from "./tables/blocks.ts";
import { createChainQueries, createFeeQueries, createRoundQueries } from "./tables/chain.ts";
import { createHistoryQueries } from "./tables/history.ts";
import { createTokenQueries } from "./tables/tokens.ts";
import { createTransactionQueries } from "./tables/transactions.ts";
import {
  createDelegateQueries,
  createEntityQueries,
  createLockQueries,
  createWalletQueries,
} from "./tables/wallets.ts";

export type ValueIndexOptions = {
  /** Builds value indexes (`lists/value-index-cache.ts`) in another thread. If absent, long lists are sorted at every read. */
  readonly build?: ValueIndexDependencies["build"] | undefined;
  /** Minimum number of rows for which a value index is built. */
  readonly minIndexedRows?: number | undefined;
  /** Maximum share of the time that is spent building value indexes. Default: one half. */
  readonly maxShare?: number | undefined;
};

export type SqliteReadModelOptions = {
  /** Time after which reading one list fails; the read blocks its thread. Default: 2 s. */
  readonly readTimeoutMs?: number;
  /** Value indexes for long lists whose order no index has. If absent, these lists are sorted at every read. */
  readonly valueIndexes?: ValueIndexOptions;
  /** Called with the plan of each page of a list. */
  readonly onPlan?: PlannerOptions["onPlan"];
};

const READ_TIMEOUT_MS = 2_000;
/** Sorting fewer rows than this is faster than reading a page of a value index. */
const MIN_INDEXED_ROWS = 5_000;
/** All seven orders of a million transactions use 75 MB (docs/decisions/0018-keep-unindexed-sort-orders-in-memory.md). */
const MAX_VALUE_INDEX_BYTES = 96 * 2 ** 20;

/** @param database a connection that nothing else begins transactions on */
export function createSqliteReadModel(
  { readTimeoutMs = READ_TIMEOUT_MS, ...options }: SqliteReadModelOptions,
  { database, network }: { readonly database: Database; readonly network: Network },
): ReadModel {
  const transaction = createTickTransaction(database);
  const time = createTimeBox(readTimeoutMs);

  function head(): Head {
    const known = transaction.head();
    if (!known) throw new SnapshotError("SNAPSHOT_EMPTY");
    return known;
  }

  const queries = createQueries(options, { database, network, time, head });
  let known: Snapshot | undefined;
  return {
    head: transaction.head,
    async snapshot(work) {
      const { id } = head();
      if (known?.head.id !== id) known = createSnapshot(head(), transaction, time, queries);
      return work(known);
    },
    close: transaction.end,
  };
}

/** Returns the reads of the state at a head, which fail when it is no longer the head of the transaction. */
function createSnapshot(
  head: Head,
  transaction: TickTransaction,
  time: TimeBox,
  { history, ...queries }: ReturnType<typeof createQueries>,
): Snapshot {
  const readsOf = <Reads>(queries: QueriesOf<Reads>): Reads =>
    mapValues(queries, (query: (...asked: unknown[]) => unknown) => async (...asked: unknown[]) => {
      if (transaction.head()?.id !== head.id) throw new SnapshotError("SNAPSHOT_ENDED");
      time.begin();
      return query(...asked);
    });
  const { at, ...recorded } = history;
  return {
    head,
    ...mapValues<Omit<Snapshot, "head" | "history">>(queries, readsOf),
    history: {
      ...readsOf<Pick<History, "since" | "balances">>(recorded),
      at(height) {
        const { wallets, tokens, delegates, totalSupply } = at(height);
        return {
          height,
          wallets: readsOf<PastState["wallets"]>(wallets),
          tokens: readsOf<PastState["tokens"]>(tokens),
          delegates: readsOf<PastState["delegates"]>(delegates),
          ...readsOf<Pick<PastState, "totalSupply">>({ totalSupply }),
        };
      },
    },
  };
}

function mapValues<Result>(members: object, convert: (member: never) => unknown): Result {
  const converted = Object.entries(members).map(([name, member]) => [name, convert(member as never)]);
  return Object.fromEntries(converted) as Result;
}

/** All reads, prepared once; they must be called inside a transaction, whose head `head` returns. */
export function createQueries(
  {
    onPlan,
    valueIndexes: { build, minIndexedRows = MIN_INDEXED_ROWS, maxShare } = {},
  }: Pick<SqliteReadModelOptions, "onPlan" | "valueIndexes">,
  {
    database,
    network,
    time,
    head,
  }: Pick<ListDependencies, "database" | "time" | "head"> & { readonly network: Network },
) {
  const chunksOf = createChunks(database, time);
  const valueIndexes = build
    ? createValueIndexes({ maxBytes: MAX_VALUE_INDEX_BYTES, maxShare }, { database, build })
    : NO_VALUE_INDEXES;
  const lists: ListDependencies = { database, head, time, chunksOf, onPlan };
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
      head,
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

/**
 * The read transaction that all snapshots of one tick of the event loop share: beginning and ending a transaction takes as long as finding
 * a row (docs/decisions/0019-share-reads-and-writes-per-tick.md). It ends with its tick. A client that is notified of a block sends its
 * request in a later tick, whose transaction sees the block.
 */
type TickTransaction = {
  /** Returns the head of the state that the reads of this tick see; undefined without a genesis block. */
  head(): Head | undefined;
  /** Ends the transaction of this tick, if any; must be called before the connection is closed. */
  end(): void;
};

export function createTickTransaction(database: Database): TickTransaction {
  // Deferred, so that a read-only connection can begin it; the first read fixes the state that all reads see.
  const begin = database.prepare("BEGIN");
  const commit = database.prepare("COMMIT");
  const select = database.prepare<Head>(
    "SELECT id_text AS id, height, timestamp FROM blocks ORDER BY height DESC LIMIT 1",
  );
  let current: { readonly head: Head | undefined; readonly end: NodeJS.Immediate } | undefined;

  function readHead(): Head | undefined {
    begin.run();
    try {
      return select.get();
    } catch (error) {
      commit.run();
      throw error;
    }
  }

  function end(): void {
    if (!current) return;
    clearImmediate(current.end);
    current = undefined;
    commit.run();
  }

  return {
    head() {
      current ??= { head: readHead(), end: setImmediate(end) };
      return current.head;
    },
    end,
  };
}

/** Maximum that counts of the time between two checks of the clock: beyond it, the machine was busy with other work. */
const MAX_STEP_MS = 5;

/** @param elapsedMs a monotonic clock */
export function createTimeBox(maxMs: number, elapsedMs = () => performance.now()): TimeBox {
  let remainingMs = 0;
  let checkedMs = 0;
  return {
    begin() {
      remainingMs = maxMs;
      checkedMs = elapsedMs();
    },
    check() {
      const nowMs = elapsedMs();
      const spentMs = nowMs - checkedMs;
      checkedMs = nowMs;
      remainingMs -= Math.min(spentMs, MAX_STEP_MS);
      if (remainingMs < 0) throw new SnapshotError("SNAPSHOT_TIMEOUT");
      return spentMs;
    },
  };
}
