/**
 * The read model over the tables that a mirror writes (docs/guides/mirror.md). Each snapshot is one read-only
 * transaction, which reads `head` first. Several snapshots can share a transaction with a short time limit; the work of
 * a snapshot that exceeds it is repeated in a separate transaction.
 */
import type { Network } from "@uniknode/protocol";
import type { Postgres, PostgresValue } from "../../postgres/connection.ts";
import { PostgresError } from "../../postgres/postgres-error.ts";
import { prepared, type ReadLimits, type ReadQuery, ReadsEndedError } from "../../postgres/reads.ts";
import { type Head, type ReadModel, type Snapshot, SnapshotError } from "../port.ts";
import { type Foundation, foundationOf } from "../transaction-rules.ts";
import { GeneratorNames, PostgresBlocks } from "./blocks.ts";
import { feesIn, PostgresChain, roundsIn, StateSums } from "./chain.ts";
import { CountCache, first, OffsetCache, type SnapshotReads } from "./lists/reads.ts";
import { QuickReads, SharedTransactions } from "./shared-transactions.ts";
import { countsByTypePerHead, PostgresTokens } from "./tokens.ts";
import { BlockIds, PostgresTransactions, typeCountsPerHead } from "./transactions.ts";
import { entitiesIn, Holders, locksIn, PostgresWallets } from "./wallets.ts";

type PostgresReadModelOptions = {
  /** Time limit of each statement. Default: 2 s. */
  readonly readTimeoutMs?: number;
  /** Time limit of each statement of a shared transaction. Default: 50 ms. */
  readonly sharedReadTimeoutMs?: number;
  /** Time for which `head()` returns the last known block without reading it. Default: 100 ms. */
  readonly headCacheMs?: number;
  /** Number of rows that a page with a large offset skips at most. Default: 100. */
  readonly offsetCacheStep?: number;
};

/** Connections remain open when the model is closed. */
type PostgresReadModelDeps = {
  readonly postgres: Postgres;
  /** Connections for shared transactions, so that slow reads do not use all of them; absent: no transaction is shared. */
  readonly shared?: Postgres;
  readonly network: Network;
};

const READ_TIMEOUT_MS = 2_000;
const SHARED_READ_TIMEOUT_MS = 50;
const SNAPSHOTS_PER_TRANSACTION = 16;
const HEAD_CACHE_MS = 100;

/** A mirror that is being built has no consistent state. */
const HEAD = prepared(
  `SELECT head.id, head.height::float8 AS height, timestamp::float8 AS timestamp, transactions::float8 AS transactions
   FROM head JOIN blocks USING (height) WHERE phase = 'ready'`,
);
type HeadRow = Head & { readonly transactions: number };

type Query = ReadQuery<PostgresValue>;
type Opened = { readonly query: Query; readonly row: HeadRow | undefined };
type Work<T> = (opened: Opened) => Promise<T>;

export class PostgresReadModel implements ReadModel {
  readonly #options: PostgresReadModelOptions;
  readonly #postgres: Postgres;
  readonly #foundation: Foundation;
  readonly #caches: Caches;
  readonly #heads: HeadCache;
  /** Absent: no transaction is shared. */
  readonly #shared: SharedTransactions<Opened> | undefined;

  constructor(options: PostgresReadModelOptions, deps: PostgresReadModelDeps) {
    this.#options = options;
    this.#postgres = deps.postgres;
    this.#foundation = foundationOf(deps.network);
    this.#caches = createCaches(options);
    this.#heads = new HeadCache(options.headCacheMs ?? HEAD_CACHE_MS, () =>
      this.#transaction(async ({ row }) => row && toHead(row)),
    );
    const { sharedReadTimeoutMs: timeoutMs = SHARED_READ_TIMEOUT_MS } = options;
    const quick = new QuickReads<PostgresValue>();
    const { shared } = deps;
    this.#shared =
      shared &&
      new SharedTransactions(SNAPSHOTS_PER_TRANSACTION, (work) =>
        openReads(shared, { timeoutMs, isShared: true }, (query) => quick.limited(query), work),
      );
  }

  head(): Head | undefined | Promise<Head | undefined> {
    return this.#heads.head();
  }

  snapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    return this.#transaction(({ query, row }) => {
      if (!row) throw new SnapshotError("SNAPSHOT_EMPTY");
      const head = toHead(row);
      this.#heads.note(head);
      const { counts, offsets } = this.#caches;
      const reads = { head, transactions: row.transactions, query, counts, offsets };
      return work(snapshotOf(reads, this.#caches, this.#foundation));
    });
  }

  close(): void {}

  /** Runs the work of a snapshot, in a shared transaction first. */
  async #transaction<T>(work: Work<T>): Promise<T> {
    const { readTimeoutMs = READ_TIMEOUT_MS } = this.#options;
    const own = () => openReads(this.#postgres, { timeoutMs: readTimeoutMs }, (query) => query, work);
    if (!this.#shared) return own();
    try {
      return await this.#shared.run(work);
    } catch (error) {
      if (error instanceof SnapshotError && error.code === "SNAPSHOT_TIMEOUT") return own();
      throw error;
    }
  }
}

const openReads = <T>(
  postgres: Postgres,
  limits: ReadLimits,
  limited: (query: Query) => Query,
  work: Work<T>,
): Promise<T> =>
  postgres
    .reads(limits, async (query) =>
      work({ query: withErrors(limited(query)), row: await first(query<HeadRow>(HEAD)) }),
    )
    .catch(rethrow);

const toHead = ({ id, height, timestamp }: HeadRow): Head => ({ id, height, timestamp });

const withErrors =
  (query: Query): Query =>
  <Row>(...asked: Parameters<Query>) =>
    query<Row>(...asked).catch(rethrow);

function rethrow(error: unknown): never {
  throw toSnapshotError(error);
}

type Caches = ReturnType<typeof createCaches>;

/** Caches by head, which snapshots share. */
const createCaches = ({ offsetCacheStep }: PostgresReadModelOptions) => ({
  counts: new CountCache(),
  offsets: new OffsetCache(offsetCacheStep),
  names: new GeneratorNames(),
  blockIds: new BlockIds(),
  sums: new StateSums(),
  holders: new Holders(),
  tokensByType: countsByTypePerHead(),
  typeCounts: typeCountsPerHead(),
});

const snapshotOf = (reads: SnapshotReads, caches: Caches, foundation: Foundation): Snapshot => ({
  head: reads.head,
  blocks: new PostgresBlocks(reads, caches.names),
  chain: new PostgresChain(reads, caches.sums),
  delegates: { all: () => caches.holders.delegates(reads) },
  entities: entitiesIn(reads, caches.holders),
  fees: feesIn(reads),
  history: undefined,
  locks: locksIn(reads, caches.holders),
  rounds: roundsIn(reads),
  tokens: new PostgresTokens(reads, caches.tokensByType),
  transactions: new PostgresTransactions(reads, foundation, caches),
  wallets: new PostgresWallets(reads),
});

export class HeadCache {
  readonly #maxAgeMs: number;
  readonly #read: () => Promise<Head | undefined>;
  #known: { readonly head: Head | undefined; readonly untilMs: number } | undefined;
  #reading: Promise<Head | undefined> | undefined;

  constructor(maxAgeMs: number, read: () => Promise<Head | undefined>) {
    this.#maxAgeMs = maxAgeMs;
    this.#read = read;
  }

  /** Returns the head without a promise if it was read less than the given time ago. Concurrent callers share a read. */
  head(): Head | undefined | Promise<Head | undefined> {
    if (this.#known && performance.now() < this.#known.untilMs) return this.#known.head;
    this.#reading ??= this.#read()
      .then((head) => {
        this.note(head);
        return head;
      })
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  /** Stores the head that a snapshot has just read. */
  note(head: Head | undefined): void {
    this.#known = { head, untilMs: performance.now() + this.#maxAgeMs };
  }
}

/** Converts a failure of the database to a `SnapshotError`; returns other errors as they are. */
export function toSnapshotError(error: unknown): unknown {
  if (error instanceof ReadsEndedError) return new SnapshotError("SNAPSHOT_ENDED");
  return error instanceof PostgresError ? new SnapshotError(CODES[error.code], error) : error;
}

const CODES = {
  POSTGRES_TIMEOUT: "SNAPSHOT_TIMEOUT",
  POSTGRES_BUSY: "SNAPSHOT_BUSY",
  POSTGRES_UNREACHABLE: "SNAPSHOT_UNREACHABLE",
} as const satisfies Record<PostgresError["code"], SnapshotError["code"]>;
