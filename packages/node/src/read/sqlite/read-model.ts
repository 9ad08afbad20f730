/**
 * The read model over the database of the node. SQLite is synchronous, so every promise of a read is settled when it is
 * returned. The reads of all snapshots of one tick of the event loop share one transaction.
 */
import type { Network } from "@uniknode/protocol";
import type { Database, Statement } from "../../store/engine/database.ts";
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
import { Chunks, TimeBox } from "./lists/time-box.ts";
import { ValueIndexes, type ValueIndexOptions } from "./lists/value-index-cache.ts";
import { BlockQueries } from "./tables/blocks.ts";
import { ChainQueries, FeeQueries, RoundQueries } from "./tables/chain.ts";
import { HistoryQueries } from "./tables/history.ts";
import { TokenQueries } from "./tables/tokens.ts";
import { TransactionQueries } from "./tables/transactions.ts";
import { delegateQueries, entityQueries, lockQueries, WalletQueries } from "./tables/wallets.ts";

export type SqliteReadModelOptions = {
  /** Time after which reading one list fails; the read blocks its thread. Default: 2 s. */
  readonly readTimeoutMs?: number;
  /** Value indexes for long lists whose order no index has. If absent, these lists are sorted at every read. */
  readonly valueIndexes?: ValueIndexOptions & {
    /** Minimum number of rows for which a value index is built. */
    readonly minIndexedRows?: number | undefined;
  };
  /** Called with the plan of each page of a list. */
  readonly onPlan?: PlannerOptions["onPlan"];
};

const READ_TIMEOUT_MS = 2_000;
/** Sorting fewer rows than this is faster than reading a page of a value index. */
const MIN_INDEXED_ROWS = 5_000;
export class SqliteReadModel implements ReadModel {
  readonly #transaction: TickTransaction;
  readonly #time: TimeBox;
  readonly #queries: ReturnType<typeof createQueries>;
  #known: Snapshot | undefined;

  /** @param database a connection that nothing else begins transactions on */
  constructor(
    { readTimeoutMs = READ_TIMEOUT_MS, ...options }: SqliteReadModelOptions,
    { database, network }: { readonly database: Database; readonly network: Network },
  ) {
    this.#transaction = new TickTransaction(database);
    this.#time = new TimeBox(readTimeoutMs);
    const deps = { database, network, time: this.#time, head: () => this.#presentHead() };
    this.#queries = createQueries(options, deps);
  }

  head(): Head | undefined {
    return this.#transaction.head();
  }

  async snapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    const head = this.#presentHead();
    if (this.#known?.head.id !== head.id) this.#known = this.#createSnapshot(head);
    return work(this.#known);
  }

  close(): void {
    this.#transaction.end();
  }

  #presentHead(): Head {
    const known = this.#transaction.head();
    if (!known) throw new SnapshotError("SNAPSHOT_EMPTY");
    return known;
  }

  /** Returns the reads of the state at a head, which fail when it is no longer the head of the transaction. */
  #createSnapshot(head: Head): Snapshot {
    const begin = () => {
      if (this.#transaction.head()?.id !== head.id) throw new SnapshotError("SNAPSHOT_ENDED");
      this.#time.begin();
    };
    const readsOf = <Reads>(queries: QueriesOf<Reads>): Reads =>
      mapMembers(queries, (query: (...asked: unknown[]) => unknown) => async (...asked: unknown[]) => {
        begin();
        return query.apply(queries, asked);
      });
    const { history, ...queries } = this.#queries;
    return {
      head,
      ...mapMembers<Omit<Snapshot, "head" | "history">>(queries, readsOf),
      history: {
        ...readsOf<Pick<History, "since" | "balances">>(history),
        at(height) {
          const { wallets, tokens, delegates, totalSupply } = history.at(height);
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
}

/** Converts the members of an object, or the methods of its class. */
function mapMembers<Result>(source: object, convert: (member: never) => unknown): Result {
  const prototype = Object.getPrototypeOf(source);
  const names = Object.getOwnPropertyNames(prototype === Object.prototype ? source : prototype);
  const members = source as Readonly<Record<string, never>>;
  return Object.fromEntries(
    names.filter((name) => name !== "constructor").map((name) => [name, convert(members[name] as never)]),
  ) as Result;
}

/** All reads, prepared once; they must be called inside a transaction, whose head `head` returns. */
export function createQueries(
  { onPlan, valueIndexes }: Pick<SqliteReadModelOptions, "onPlan" | "valueIndexes">,
  {
    database,
    network,
    time,
    head,
  }: Pick<ListDependencies, "database" | "time" | "head"> & { readonly network: Network },
) {
  const lists: ListDependencies = { database, head, time, chunks: new Chunks(database, time), onPlan };
  const blocks = new BlockQueries(lists);
  return {
    blocks,
    chain: new ChainQueries(database),
    delegates: delegateQueries(lists),
    entities: entityQueries(lists),
    fees: new FeeQueries(lists),
    history: new HistoryQueries(lists),
    locks: lockQueries(lists),
    rounds: new RoundQueries(database),
    tokens: new TokenQueries(lists),
    transactions: new TransactionQueries({
      ...lists,
      foundation: foundationOf(network),
      heightAt: (time) => blocks.heightAt(time),
      valueIndexes: valueIndexes && new ValueIndexes(valueIndexes, database),
      minIndexedRows: valueIndexes?.minIndexedRows ?? MIN_INDEXED_ROWS,
    }),
    wallets: new WalletQueries(lists),
  };
}

/**
 * The read transaction that all snapshots of one tick of the event loop share: beginning and ending a transaction takes as long as finding
 * a row (docs/decisions/0019-share-reads-and-writes-per-tick.md). It ends with its tick. A client that is notified of a block sends its
 * request in a later tick, whose transaction sees the block.
 */
export class TickTransaction {
  readonly #begin: Statement<unknown>;
  readonly #commit: Statement<unknown>;
  readonly #select: Statement<Head>;
  #current: { readonly head: Head | undefined; readonly end: NodeJS.Immediate } | undefined;

  constructor(database: Database) {
    // Deferred, so that a read-only connection can begin it; the first read fixes the state that all reads see.
    this.#begin = database.prepare("BEGIN");
    this.#commit = database.prepare("COMMIT");
    this.#select = database.prepare(
      "SELECT id_text AS id, height, timestamp FROM blocks ORDER BY height DESC LIMIT 1",
    );
  }

  /** Returns the head of the state that the reads of this tick see; undefined without a genesis block. */
  head(): Head | undefined {
    this.#current ??= { head: this.#readHead(), end: setImmediate(() => this.end()) };
    return this.#current.head;
  }

  /** Ends the transaction of this tick, if any; must be called before the connection is closed. */
  end(): void {
    if (!this.#current) return;
    clearImmediate(this.#current.end);
    this.#current = undefined;
    this.#commit.run();
  }

  #readHead(): Head | undefined {
    this.#begin.run();
    try {
      return this.#select.get();
    } catch (error) {
      this.#commit.run();
      throw error;
    }
  }
}
