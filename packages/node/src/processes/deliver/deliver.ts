/** A delivery worker: matches events and sends webhooks from PostgreSQL, until it is stopped. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Logger } from "pino";
import type { deliverOptions } from "../../config/mirror.ts";
import type { Config } from "../../config/resolve.ts";
import type { History } from "../../event-log/history.ts";
import { PostgresHistory } from "../../event-log/postgres/history.ts";
import { createAccess } from "../../http/webhooks/access.ts";
import { readHead } from "../../mirror/head.ts";
import { waitForIdentity } from "../../mirror/node-identity.ts";
import { createOperationRoutes, type Operations, OperationsServer } from "../../operations/http/server.ts";
import { explainListenError, shownHost } from "../../platform/addresses.ts";
import { ConfigError } from "../../platform/coded-error.ts";
import { Closing } from "../../platform/lifecycle/closing.ts";
import { LoopDelayMonitor } from "../../platform/lifecycle/event-loop.ts";
import type { Served } from "../../platform/lifecycle/process.ts";
import { Postgres } from "../../postgres/connection.ts";
import { untilReachable } from "../../postgres/postgres-error.ts";
import { createProveFact, type ProveFact } from "../../proofs/assemble.ts";
import { PostgresReadModel } from "../../read/postgres/read-model.ts";
import { leaseMsFor } from "../../webhooks/delivery/lease.ts";
import { DeliveryFigures } from "../../webhooks/figures.ts";
import type { WebhookOptions } from "../../webhooks/options.ts";
import { openSecretCipher } from "../../webhooks/postgres/secrets.ts";
import { PostgresStore } from "../../webhooks/postgres/sql.ts";
import { openPostgresStorage } from "../../webhooks/postgres/storage.ts";
import { type WorkerLease, waitForName } from "../../webhooks/postgres/worker-lease.ts";
import { TargetPost } from "../../webhooks/target-post.ts";
import { type WebhookStorage, Webhooks } from "../../webhooks/webhooks.ts";
import { Announcement, connectToGateway } from "../serve/nodes.ts";
import { toPostOptions, toWebhookOptions } from "../serving/webhook-options.ts";
import { requireWritable, searchNewEvents, watchOwnership } from "./database.ts";
import { WorkerOperations } from "./operations.ts";

type DeliverOptions = Config<typeof deliverOptions>;

/** Time limit of a statement: calls of the storage settle within `CALL_TIMEOUT_MS`. */
const STATEMENT_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 3_000;
/** Shorter than any lease: a frozen worker must not lock its shards longer than it owns them. */
const MAX_TRANSACTION_IDLE_MS = 5_000;
/** Time that a stop waits for running calls: shorter than the time limit of the stop. */
const MAX_CLOSE_GRACE_MS = 10_000;

/**
 * @param starting ends the waits for the database, the mirror and the node
 * @throws {ConfigError} if the database is not given or cannot be written, or the key file cannot be read
 * @throws {NameInUseError} if another process delivers with the name of this one
 * @throws {Error} if the database refuses this user, or the port cannot be listened on
 */
export async function startDeliver(
  options: DeliverOptions,
  logger: Logger,
  starting: AbortSignal,
): Promise<Served & { readonly url: string }> {
  const closing = new Closing();
  const failed = Promise.withResolvers<never>();
  // It may fail before the caller listens.
  failed.promise.catch(() => {});
  try {
    const url = await open(options, logger, { closing, starting, onFailed: failed.reject });
    return {
      url,
      failed: failed.promise,
      closing: () => closing.current(),
      stop: () => closing.closeAll(logger),
    };
  } catch (error) {
    await closing.closeAll(logger);
    throw error;
  }
}

type Lifecycle = {
  readonly closing: Closing;
  readonly starting: AbortSignal;
  readonly onFailed: (error: Error) => void;
};

async function open(options: DeliverOptions, logger: Logger, lifecycle: Lifecycle): Promise<string> {
  const { closing, starting } = lifecycle;
  const worker = options.name ?? `${hostname()}:${process.pid}`;
  const postgres = openDatabase(options, logger);
  closing.add("database", () => postgres.close());
  const { network, cipher } = await untilReachable(
    () => waitForMirror(options, { postgres, logger }, starting),
    logger,
    starting,
  );
  const leaseMs = leaseMsFor(options.webhookTimeout * 1_000);
  const { nethash: hash, name } = network.description;
  const lease = { worker, session: randomUUID(), leaseMs };
  const storage = openPostgresStorage(lease, { postgres, network: hash, cipher });
  const history = new PostgresHistory(postgres, network);
  const proveFact = createProveFact(new PostgresReadModel({}, { postgres, network }), network);
  const url = await deliver(options, { lease, postgres, storage, history, proveFact, logger }, lifecycle);
  announce(options, { worker, postgres, logger }, closing);
  logger.info({ url, network: name, worker }, "delivery worker started");
  closing.add("owner", await untilReachable(() => watchOwnership(postgres, logger), logger, starting));
  return url;
}

/**
 * Waits until a mirror has filled the database.
 *
 * @throws {ConfigError} if this process cannot write to it, or lacks the key of the secrets
 */
async function waitForMirror(
  { webhookKeyFile }: DeliverOptions,
  { postgres, logger }: Pick<DeliverDeps, "postgres" | "logger">,
  starting: AbortSignal,
) {
  const { network } = await waitForIdentity(postgres, logger, starting);
  await requireWritable(postgres);
  return { network, cipher: await openSecretCipher(postgres, webhookKeyFile) };
}

type DeliverDeps = {
  readonly lease: WorkerLease;
  readonly postgres: Postgres;
  readonly storage: WebhookStorage;
  readonly history: History;
  readonly proveFact: ProveFact;
  readonly logger: Logger;
};

/** Begins to deliver, once the name is free; returns the URL of health and metrics. */
async function deliver(
  options: DeliverOptions,
  { lease, postgres, storage, history, proveFact, logger }: DeliverDeps,
  { closing, starting, onFailed }: Lifecycle,
): Promise<string> {
  const loopDelay = new LoopDelayMonitor();
  closing.add("measuring", () => loopDelay.close());
  const targets = new TargetPost(toPostOptions(options));
  closing.add("connections", () => targets.close());
  const operations = new WorkerOperations({
    worker: lease.worker,
    postgres,
    natsConnections: () => targets.natsConnections(),
    queue: storage.queue,
    figures: new DeliveryFigures(new PostgresStore(postgres)),
    loopDelay: () => loopDelay.read(),
    // It is called once the server listens.
    connections: () => server.connections(),
  });
  const server = buildOperationsServer(options, operations, logger);
  closing.add("operations", () => server.close());
  const address = await listen(server, options);
  await untilReachable(() => waitForName(postgres.query, lease, logger, starting), logger, starting);
  const { observer, matching } = operations;
  const webhooks = new Webhooks(toWorkerOptions(options), {
    storage,
    history,
    proveFact,
    post: targets.post,
    observer,
    matching,
    logger,
    // Workers change no subscription.
    webhooksChanged: async () => {},
    onNameLost: onFailed,
  });
  closing.add("webhooks", () => webhooks.close());
  closing.add(
    "events",
    searchNewEvents(postgres, () => webhooks.notify()),
  );
  return `http://${shownHost(options.operationsHost)}:${address.port}`;
}

/** Lets a node list this worker for its operator. */
function announce(
  { node: urls, token }: DeliverOptions,
  { worker, postgres, logger }: Pick<DeliverDeps, "postgres" | "logger"> & Pick<WorkerLease, "worker">,
  closing: Closing,
): void {
  if (urls === undefined || token === undefined) return;
  const announcement = new Announcement({
    kind: "worker",
    name: () => worker,
    head: () => readHead(postgres),
  });
  const { gateway } = connectToGateway(
    { urls, token, describe: () => announcement.headers() },
    { closing, logger },
  );
  closing.add("announcement", announcement.begin(gateway));
}

/** @throws {ConfigError} */
function openDatabase(
  { databaseUrl, databaseConnections, node, token }: DeliverOptions,
  logger: Logger,
): Postgres {
  if (databaseUrl === undefined) throw new ConfigError("give the database of the mirror with --database-url");
  if (node !== undefined && token === undefined)
    throw new ConfigError('give the webhook token of the node with --token ("uniknode token" prints it)');
  return new Postgres({
    url: databaseUrl,
    applicationName: "uniknode deliver",
    maxConnections: databaseConnections,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    maxTransactionIdleMs: MAX_TRANSACTION_IDLE_MS,
    isCommitAsynchronous: false,
    hasFewStatements: true,
    onConnectionLost: (err) => logger.warn({ err }, "lost a connection to the database"),
  });
}

function toWorkerOptions(options: DeliverOptions): WebhookOptions {
  const webhookOptions = toWebhookOptions(options);
  return { ...webhookOptions, closeGraceMs: Math.min(webhookOptions.callTimeoutMs, MAX_CLOSE_GRACE_MS) };
}

/** Metrics require the token, if there is one. */
function buildOperationsServer(
  { operationsHost: host, operationsPort: port, token, metricsPublic }: DeliverOptions,
  operations: Operations,
  logger: Logger,
): OperationsServer {
  const access = metricsPublic || token === undefined ? undefined : createAccess({ token });
  return new OperationsServer({ host, port }, { routes: createOperationRoutes(access, operations), logger });
}

/** @throws {ListenError} naming the option of an address that cannot be used */
async function listen(
  server: OperationsServer,
  { operationsHost: host, operationsPort: port }: DeliverOptions,
) {
  return server.listen().catch((error) => {
    throw explainListenError(error, {
      host,
      port,
      portFlag: "--operations-port",
      hostFlag: "--operations-host",
    });
  });
}
