/** The mirror process: copies the chain of a node into PostgreSQL until it is stopped. */
import { hostname } from "node:os";
import type { Logger } from "pino";
import type { mirrorOptions } from "../../config/mirror.ts";
import { requireMirrorAccess } from "../../config/mirror-access.ts";
import type { Config } from "../../config/resolve.ts";
import { DEFAULT_HTTP_GATEWAY_OPTIONS, HttpGateway } from "../../gateway/http.ts";
import { checkMirror, type MirrorCheck } from "../../mirror/check/check.ts";
import { FeedClient } from "../../mirror/feed-client.ts";
import { refuseOtherNetwork } from "../../mirror/head.ts";
import { Mirror, type MirrorDeps } from "../../mirror/mirror.ts";
import { MirrorError } from "../../mirror/mirror-error.ts";
import { fetchIdentity, readIdentity } from "../../mirror/node-identity.ts";
import type { Served } from "../../platform/lifecycle/process.ts";
import { Postgres } from "../../postgres/connection.ts";
import { migrate, SchemaError } from "../../postgres/migrations.ts";
import { untilReachable } from "../../postgres/postgres-error.ts";
import { RemoteNames } from "../../webhooks/postgres/hand-over/owner.ts";

export type MirrorConfig = Config<typeof mirrorOptions>;

type MirrorObserver = Pick<MirrorDeps, "onHeight" | "onCopied">;

/** Maximum number of blocks that the node reverts (`chain/chain.ts`). */
const UNDO_DEPTH = 10_000;
/** Number of connections: one to write blocks, one to write events, one to renew the lease, one to read and for the names of events. */
const CONNECTIONS = 4;
/** A database that no longer responds must not stop the mirror for long: the lease is renewed over other connections. */
const STATEMENT_TIMEOUT_MS = 120_000;
/** Longer than the silence of a node (`feed-client.ts`), for whose lines the last transaction of a new mirror waits. */
const MAX_TRANSACTION_IDLE_MS = 60_000;

/**
 * @param starting ends the waits for the database and the node
 * @param observer called when the mirror has changed
 * @throws {ConfigError} if the database or the token is not given
 * @throws {SchemaError | MirrorError} if the database cannot be used
 */
export async function startMirror(
  options: MirrorConfig,
  logger: Logger,
  starting: AbortSignal,
  observer: MirrorObserver = { onHeight() {}, onCopied() {} },
): Promise<Served> {
  const { postgres, feed, token } = openBoth(options, logger);
  const { node, name } = options;
  const remote = new HttpGateway({ ...DEFAULT_HTTP_GATEWAY_OPTIONS, urls: [node], token }, { onChange() {} });
  const names = new RemoteNames({ postgres, gateway: remote.gateway });
  // Only the mirror with the lease: it follows the node whose log the workers read.
  const onLease = (signal: AbortSignal) => void names.repeat({ logger, signal });
  const stopping = new AbortController();
  try {
    await whenReachable(() => postgres.query("SELECT 1"), logger, starting);
    const { network, texts } = await fetchIdentity(node, logger, starting);
    // An older schema of another network has older processes.
    await whenReachable(() => refuseOtherNetwork(postgres, network.description), logger, starting);
    await whenReachable(() => migrate(postgres), logger, starting);
    const owner = name ?? `${hostname()}:${process.pid}`;
    logger.info({ node, network: network.description.name, owner }, "mirror started");
    const deps = { postgres, feed, network, identity: texts, logger, onLease, ...observer };
    const running = new Mirror({ owner, undoDepth: UNDO_DEPTH }, deps).run(stopping.signal);
    return {
      failed: running.then(() => new Promise<never>(() => {})),
      closing: () => (stopping.signal.aborted ? "mirror" : undefined),
      async stop() {
        stopping.abort();
        // Ends a call, for whose result a connection waits.
        await remote.close();
        await running.catch(() => {});
        await feed.close();
        await postgres.close();
      },
    };
  } catch (error) {
    await remote.close();
    await feed.close();
    await postgres.close();
    throw error;
  }
}

/**
 * Compares a mirror with its node.
 *
 * @throws {ConfigError} if the database or the token is not given
 * @throws {MirrorError} if one side cannot be read, or the two never had the same block
 */
export async function checkMirrorOf(
  options: MirrorConfig,
  logger: Logger,
  signal: AbortSignal,
): Promise<MirrorCheck> {
  const { postgres, feed } = openBoth(options, logger);
  try {
    const found = await readIdentity(postgres).catch(explainDatabase);
    if (typeof found === "string")
      throw new MirrorError("MIRROR_DATABASE", `the database has no mirror: ${found}`);
    return await checkMirror({ postgres, feed, network: found.network, signal });
  } finally {
    await feed.close();
    await postgres.close();
  }
}

/** @throws {ConfigError} */
function openBoth(options: MirrorConfig, logger: Logger) {
  const { databaseUrl, token } = requireMirrorAccess(options);
  const postgres = new Postgres({
    url: databaseUrl,
    applicationName: "uniknode mirror",
    maxConnections: CONNECTIONS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    maxTransactionIdleMs: MAX_TRANSACTION_IDLE_MS,
    // Commits that a crash of the server loses are fetched again.
    isCommitAsynchronous: true,
    onConnectionLost: (err) => logger.warn({ err }, "lost a connection to the database"),
  });
  return { postgres, feed: new FeedClient({ url: options.node, token }), token };
}

/**
 * Waits until the database can be reached, and uses it.
 *
 * @throws {SchemaError | MirrorError}
 * @throws {DOMException} AbortError if the signal ends the wait
 */
async function whenReachable(
  use: () => Promise<unknown>,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  try {
    await untilReachable(use, logger, signal);
  } catch (error) {
    signal.throwIfAborted();
    explainDatabase(error);
  }
}

/** Throws an error that names the database: the error of a connection names only an address. */
function explainDatabase(cause: unknown): never {
  if (cause instanceof SchemaError || cause instanceof MirrorError) throw cause;
  const { message, code } = cause as Error & { readonly code?: string };
  throw new MirrorError(
    "MIRROR_DATABASE",
    `cannot use the database of the mirror: ${message || code}; check --database-url and that the server runs`,
    { cause },
  );
}
