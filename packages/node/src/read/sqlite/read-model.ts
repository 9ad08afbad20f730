/**
 * The read model over the database of the node. SQLite is synchronous, so every promise here is settled when it is
 * returned: the reads of all snapshots of one tick of the event loop share one transaction.
 */
import type { Network } from "@uniknode/protocol";
import type { Database } from "../../store/engine/database.ts";
import { SnapshotError } from "../errors.ts";
import { type Head, perHead } from "../head.ts";
import type { PropertyRange, Range } from "../page.ts";
import type { History, PastState, ReadModel, Snapshot } from "../port.ts";
import type { PlannerOptions } from "./lists/planner.ts";
import { createTimeBox, type TimeBox } from "./lists/time-box.ts";
import { createQueries, type Queries, type ValueIndexOptions } from "./queries.ts";
import type { HistoryQueries } from "./tables/history.ts";

export type SqliteReadModelOptions = {
  /** Time after which reading one list fails; the read blocks its thread. Default: 2 s. */
  readonly readTimeoutMs?: number;
  /** Value indexes for long lists whose order no index has. If absent, these lists are sorted at every read. */
  readonly valueIndexes?: ValueIndexOptions;
  /** Called with the plan of each page of a list. */
  readonly onPlan?: PlannerOptions["onPlan"];
};

const READ_TIMEOUT_MS = 2_000;

/** @param database a connection that nothing else begins transactions on */
export function createSqliteReadModel(
  { readTimeoutMs = READ_TIMEOUT_MS, valueIndexes, onPlan }: SqliteReadModelOptions,
  { database, network }: { readonly database: Database; readonly network: Network },
): ReadModel {
  const transaction = createTickTransaction(database);
  const time = createTimeBox(readTimeoutMs);
  const queries = createQueries(database, network, { time, valueIndexes, onPlan });
  const snapshotAt = perHead((head) => createSnapshot(head, { transaction, time, queries }));
  return {
    head: transaction.head,
    async snapshot(work) {
      const head = transaction.head();
      if (!head) throw new SnapshotError("SNAPSHOT_EMPTY");
      return work(snapshotAt(head));
    },
    close: transaction.end,
  };
}

type SnapshotDeps = {
  readonly transaction: TickTransaction;
  readonly time: TimeBox;
  readonly queries: Queries;
};

/** Returns a query that starts the time of a list. */
const startingTime =
  <Asked extends unknown[], Result>(time: TimeBox, query: (...asked: Asked) => Result) =>
  (...asked: Asked): Result => {
    time.begin();
    return query(...asked);
  };

function createSnapshot(head: Head, { transaction, time, queries }: SnapshotDeps): Snapshot {
  const { blocks, chain, delegates, entities, fees, locks, rounds, tokens, transactions, wallets } = queries;

  /** Wraps a read so that it fails unless the transaction still sees this head. */
  const read: Read =
    (query) =>
    async (...asked) => {
      if (transaction.head()?.id !== head.id) throw new SnapshotError("SNAPSHOT_ENDED");
      return query(...asked);
    };
  const timed: Read = (query) => read(startingTime(time, query));
  const list = <Filter, Order, Page>(
    query: (head: Head, filter: Filter, order: Order, range: Range) => Page,
  ) => timed((filter: Filter, order: Order, range: Range) => query(head, filter, order, range));

  return {
    head,
    blocks: {
      byHeight: read((height: number) => blocks.byHeight(head, height)),
      byId: read((id: string) => blocks.byId(head, id)),
      heightAt: read((timestamp: number) => blocks.heightAt(timestamp, head)),
      list: list(blocks.list),
    },
    chain: {
      supply: read(chain.supply),
      lockedSupply: read(chain.lockedSupply),
      beginningWith: read(chain.beginningWith),
    },
    delegates: { all: timed(() => delegates.all(head)) },
    entities: { all: timed(() => entities.all(head)), find: read(entities.find) },
    fees: { ofLast: read(fees.ofLast), since: timed(fees.since) },
    history: createHistory(head, queries.history, { read, timed, balances: list(queries.history.balances) }),
    locks: { all: timed(() => locks.all(head)), find: read(locks.find), of: timed(locks.of) },
    rounds: { delegates: read(rounds.delegates) },
    tokens: {
      find: read(tokens.find),
      list: list(tokens.list),
      properties: read(tokens.properties),
      storedKeys: read(tokens.storedKeys),
      property: read(tokens.property),
      countsByType: read(tokens.countsByType),
    },
    transactions: {
      byId: read(transactions.byId),
      signedById: read(transactions.signedById),
      bytesById: read(transactions.bytesById),
      idsInBlock: read(transactions.idsInBlock),
      certifiedInBlock: read(transactions.certifiedInBlock),
      list: list(transactions.list),
      signedList: list(transactions.signedList),
    },
    wallets: {
      address: read(wallets.address),
      find: timed(wallets.find),
      hasSecondKey: read(wallets.hasSecondKey),
      list: list(wallets.list),
    },
  };
}

/** Makes a query a read of a snapshot, which fails when the snapshot has ended. */
type Read = <Asked extends unknown[], Result>(
  query: (...asked: Asked) => Result,
) => (...asked: Asked) => Promise<Result>;

/** Reads of a snapshot; `timed` starts the time of a list. */
type Reads = { readonly read: Read; readonly timed: Read; readonly balances: History["balances"] };

const createHistory = (head: Head, history: HistoryQueries, reads: Reads): History => ({
  since: reads.read(history.since),
  at: (height) => createPastState(head, history, height, reads),
  balances: reads.balances,
});

const createPastState = (
  head: Head,
  history: HistoryQueries,
  height: number,
  { read, timed }: Reads,
): PastState => ({
  height,
  wallets: {
    find: timed((id: string) => history.wallet(height, id)),
    hasSecondKey: timed((address: string) => history.hasSecondKey(height, address)),
  },
  tokens: {
    find: read((id: string) => history.token(height, id)),
    properties: timed((id: string, range: PropertyRange) => history.properties(head, height, id, range)),
    storedKeys: read((id: string, keys: readonly string[]) => {
      const isStored = (key: string) => history.property(height, id, key) !== undefined;
      return new Set(keys.filter(isStored));
    }),
    property: read((id: string, key: string) => history.property(height, id, key)),
  },
  delegates: { all: timed(() => history.delegates(height)) },
  totalSupply: read(() => history.totalSupply(height)),
});

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
