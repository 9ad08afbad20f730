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
import { createBlocks, createNameGenerators } from "./blocks.ts";
import { createChain, createFees, createRounds } from "./chain.ts";
import { createCountCache, createOffsetCache, first, type SnapshotReads } from "./lists/reads.ts";
import {
  createQuickReads,
  createSharedTransactions,
  type SharedTransactions,
} from "./shared-transactions.ts";
import { createTokens } from "./tokens.ts";
import { createParties } from "./transaction-filters.ts";
import { createTransactions as createTransactionReads } from "./transactions.ts";
import { createDelegates, createEntities, createLocks, createWallets } from "./wallets.ts";

type PostgresReadModelOptions = {
  /** Time limit of each statement. Default: 2 s. */
  readonly readTimeoutMs?: number;
  /** Time limit of each statement of a shared transaction. Default: 50 ms. */
  readonly sharedReadTimeoutMs?: number;
  /** Time for which `head()` returns the last known block without reading it. Default: 100 ms. */
  readonly headCacheMs?: number;
  /** Maximum number of snapshots that share a transaction. Default: 16. */
  readonly snapshotsPerTransaction?: number;
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

export function createPostgresReadModel(
  options: PostgresReadModelOptions,
  deps: PostgresReadModelDeps,
): ReadModel {
  const createSnapshot = createSnapshots(deps.network, options);
  const transaction = createTransactions(options, deps);
  const heads = createHeadCache(options.headCacheMs ?? HEAD_CACHE_MS, () =>
    transaction(async ({ row }) => row && toHead(row)),
  );
  return {
    head: heads.head,
    snapshot: (work) =>
      transaction(({ query, row }) => {
        if (!row) throw new SnapshotError("SNAPSHOT_EMPTY");
        const head = toHead(row);
        heads.note(head);
        return work(createSnapshot(query, head, row.transactions));
      }),
    close: () => {},
  };
}

type Opened = { readonly query: Query; readonly row: HeadRow | undefined };
type Query = ReadQuery<PostgresValue>;

/** Returns a function that runs the work of a snapshot, in a shared transaction first. */
function createTransactions(
  { readTimeoutMs = READ_TIMEOUT_MS, ...options }: PostgresReadModelOptions,
  { postgres, shared }: PostgresReadModelDeps,
): SharedTransactions<Opened> {
  const own: SharedTransactions<Opened> = (work) =>
    openReads(postgres, { timeoutMs: readTimeoutMs }, (query) => query, work);
  if (!shared) return own;
  const {
    sharedReadTimeoutMs = SHARED_READ_TIMEOUT_MS,
    snapshotsPerTransaction = SNAPSHOTS_PER_TRANSACTION,
  } = options;
  const limits = { timeoutMs: sharedReadTimeoutMs, isShared: true };
  const quick = createQuickReads<PostgresValue>();
  const inGroup = createSharedTransactions<Opened>(snapshotsPerTransaction, (work) =>
    openReads(shared, limits, quick, work),
  );
  return async (work) => {
    try {
      return await inGroup(work);
    } catch (error) {
      if (error instanceof SnapshotError && error.code === "SNAPSHOT_TIMEOUT") return own(work);
      throw error;
    }
  };
}

const openReads = <T>(
  postgres: Postgres,
  limits: ReadLimits,
  limited: (query: Query) => Query,
  work: (opened: Opened) => Promise<T>,
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

/** Returns a function that creates snapshots, which share their caches by head. */
function createSnapshots(network: Network, { offsetCacheStep }: PostgresReadModelOptions) {
  const counts = createCountCache();
  const offsets = createOffsetCache(offsetCacheStep);
  const blocks = createBlocks(createNameGenerators());
  const chain = createChain();
  const delegates = createDelegates();
  const entities = createEntities();
  const locks = createLocks();
  const tokens = createTokens();
  const transactions = createTransactionReads(createParties(network));
  return (query: Query, head: Head, total: number): Snapshot => {
    const reads: SnapshotReads = { head, transactions: total, query, counts, offsets };
    return {
      head,
      blocks: blocks(reads),
      chain: chain(reads),
      delegates: delegates(reads),
      entities: entities(reads),
      fees: createFees(reads),
      history: undefined,
      locks: locks(reads),
      rounds: createRounds(reads),
      tokens: tokens(reads),
      transactions: transactions(reads),
      wallets: createWallets(reads),
    };
  };
}

type HeadCache = {
  /** Returns the head without a promise if it was read less than the given time ago. Concurrent callers share a read. */
  head(): Head | undefined | Promise<Head | undefined>;
  /** Stores the head that a snapshot has just read. */
  note(head: Head): void;
};

export function createHeadCache(maxAgeMs: number, read: () => Promise<Head | undefined>): HeadCache {
  let known: { readonly head: Head | undefined; readonly untilMs: number } | undefined;
  let reading: Promise<Head | undefined> | undefined;

  const note = (head: Head | undefined): void => {
    known = { head, untilMs: performance.now() + maxAgeMs };
  };

  return {
    head() {
      if (known && performance.now() < known.untilMs) return known.head;
      reading ??= read()
        .then((head) => {
          note(head);
          return head;
        })
        .finally(() => {
          reading = undefined;
        });
      return reading;
    },
    note,
  };
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
