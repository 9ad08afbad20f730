/**
 * The read model over the database of the node. SQLite is synchronous, so every promise here is settled when it is
 * returned: the reads of all snapshots of one tick of the event loop share one transaction.
 */
import type { Network } from "@uniknode/protocol";
import type { Database } from "../../store/engine/database.ts";
import { SnapshotError } from "../errors.ts";
import { type Head, perHead } from "../head.ts";
import type { Range } from "../page.ts";
import type { ReadModel, Snapshot } from "../port.ts";
import { createHistory, type Read } from "./history.ts";
import type { PlannerOptions } from "./lists/planner.ts";
import { createTimeBox, type TimeBox } from "./lists/time-box.ts";
import { createQueries, type Queries, type ValueIndexOptions } from "./queries.ts";
import { createTickTransaction, type TickTransaction } from "./tick-transaction.ts";

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
