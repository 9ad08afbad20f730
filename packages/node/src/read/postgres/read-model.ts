/**
 * The read model over the tables that a mirror writes (docs/guides/mirror.md). Each snapshot is one read-only transaction,
 * which reads `head` first.
 */
import type { Network } from "@uniknode/protocol";
import type { Postgres, PostgresValue } from "../../postgres/connection.ts";
import { PostgresError } from "../../postgres/error.ts";
import { prepared, type ReadQuery, ReadsEndedError } from "../../postgres/reads.ts";
import { SnapshotError } from "../errors.ts";
import type { Head } from "../head.ts";
import type { ReadModel, Snapshot } from "../port.ts";
import { createBlocks } from "./blocks.ts";
import { createChain } from "./chain.ts";
import { createDelegates } from "./delegates.ts";
import { createEntities } from "./entities.ts";
import { createFees } from "./fees.ts";
import { createHeadCache } from "./head-cache.ts";
import { createLocks } from "./locks.ts";
import { createCounts } from "./pages/counts.ts";
import { first, type SnapshotReads } from "./pages/reads.ts";
import { createParties } from "./parties.ts";
import { createRounds } from "./rounds.ts";
import { createSharedTransactions } from "./shared-transactions.ts";
import { createTokens } from "./tokens.ts";
import { createTransactions } from "./transactions.ts";
import { createWallets } from "./wallets.ts";

export type PostgresReadModelOptions = {
  /** Time limit of each statement. Default: 2 s. */
  readonly readTimeoutMs?: number;
  /** Time for which `head()` returns the last known block without reading it. Default: 100 ms. */
  readonly headCacheMs?: number;
  /** Maximum number of snapshots that share a transaction. Default: 1. */
  readonly snapshotsPerTransaction?: number;
};

const READ_TIMEOUT_MS = 2_000;
const HEAD_CACHE_MS = 100;

/** A mirror that is being built has no consistent state. */
const HEAD = prepared(
  `SELECT head.id, head.height::float8 AS height, timestamp::float8 AS timestamp, transactions::float8 AS transactions
   FROM head JOIN blocks USING (height) WHERE phase = 'ready'`,
);
type HeadRow = Head & { readonly transactions: number };

/** @param postgres remains open when the model is closed */
export function createPostgresReadModel(
  {
    readTimeoutMs = READ_TIMEOUT_MS,
    headCacheMs = HEAD_CACHE_MS,
    snapshotsPerTransaction = 1,
  }: PostgresReadModelOptions,
  { postgres, network }: { readonly postgres: Postgres; readonly network: Network },
): ReadModel {
  const createSnapshot = createSnapshots(network);

  const transaction = createSharedTransactions<Opened>(snapshotsPerTransaction, (work) =>
    postgres
      .reads({ timeoutMs: readTimeoutMs }, async (query) =>
        work({ query: withErrors(query), row: await first(query<HeadRow>(HEAD)) }),
      )
      .catch(rethrow),
  );
  const heads = createHeadCache(headCacheMs, () => transaction(async ({ row }) => row && toHead(row)));
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

const toHead = ({ id, height, timestamp }: HeadRow): Head => ({ id, height, timestamp });

const withErrors =
  (query: Query): Query =>
  <Row>(...asked: Parameters<Query>) =>
    query<Row>(...asked).catch(rethrow);

/** @throws {SnapshotError} for failures of the database; other errors as they are */
function rethrow(error: unknown): never {
  if (error instanceof ReadsEndedError) throw new SnapshotError("SNAPSHOT_ENDED");
  if (error instanceof PostgresError) throw new SnapshotError(CODES[error.code], error);
  throw error;
}

const CODES = {
  POSTGRES_TIMEOUT: "SNAPSHOT_TIMEOUT",
  POSTGRES_BUSY: "SNAPSHOT_BUSY",
  POSTGRES_UNREACHABLE: "SNAPSHOT_UNREACHABLE",
} as const satisfies Record<PostgresError["code"], SnapshotError["code"]>;

/** Returns a function that creates snapshots; they share what they cache by head. */
function createSnapshots(network: Network) {
  const counts = createCounts();
  const chain = createChain();
  const delegates = createDelegates();
  const entities = createEntities();
  const locks = createLocks();
  const tokens = createTokens();
  const transactions = createTransactions(createParties(network));
  return (query: Query, head: Head, total: number): Snapshot => {
    const reads: SnapshotReads = { head, transactions: total, query, counts };
    return {
      head,
      blocks: createBlocks(reads),
      chain: chain(reads),
      delegates: delegates(reads),
      entities: entities(reads),
      fees: createFees(reads),
      locks: locks(reads),
      rounds: createRounds(reads),
      tokens: tokens(reads),
      transactions: transactions(reads),
      wallets: createWallets(reads),
    };
  };
}
