/**
 * An API server: serves the public API from the database of a mirror, until it is stopped. Its log says when the database fails and
 * when it responds again.
 */
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import { requireMirrorAccess } from "../../config/mirror-access.ts";
import type { HttpServer } from "../../http/server/server.ts";
import { createAccess } from "../../http/webhooks/access.ts";
import { waitForIdentity } from "../../mirror/node-identity.ts";
import { countResponses } from "../../operations/metrics/http.ts";
import { explainListenError, shownHost } from "../../platform/addresses.ts";
import { Closing } from "../../platform/lifecycle/closing.ts";
import type { Served } from "../../platform/lifecycle/process.ts";
import type { Log } from "../../platform/logging/logger.ts";
import { type ConnectionFigures, Postgres } from "../../postgres/connection.ts";
import { reasonOf, untilReachable } from "../../postgres/postgres-error.ts";
import { type ReadModel, type Snapshot, SnapshotError } from "../../read/port.ts";
import { PostgresReadModel } from "../../read/postgres/read-model.ts";
import { buildOperationsListener } from "../serving/listeners.ts";
import { buildServeHttp, type ServeOptions } from "./http.ts";
import { Announcement, connectToNodes, serverName } from "./nodes.ts";
import { ServerOperations } from "./operations.ts";
import { buildServeWebhooks } from "./webhooks.ts";

/**
 * @param starting ends the wait for the database and the mirror
 * @throws {ConfigError} if the database or the token is not given
 * @throws {Error} if the database refuses this user, or the port cannot be listened on
 */
export async function startServe(
  options: ServeOptions,
  log: Log,
  starting: AbortSignal,
): Promise<Served & { readonly url: string }> {
  const { logger } = log;
  const closing = new Closing();
  try {
    const url = await open(options, log, { closing, starting });
    return {
      url,
      failed: new Promise<never>(() => {}),
      closing: () => closing.current(),
      stop: () => closing.closeAll(logger),
    };
  } catch (error) {
    await closing.closeAll(logger);
    throw error;
  }
}

async function open(
  options: ServeOptions,
  { logger }: Log,
  { closing, starting }: { readonly closing: Closing; readonly starting: AbortSignal },
): Promise<string> {
  const { node: urls } = options;
  const { databaseUrl, token } = requireMirrorAccess(options);
  const database = new ServeDatabase(options, databaseUrl, logger);
  const { postgres, shared } = database;
  closing.add("database", () => database.close());
  const { network, identity } = await untilReachable(
    () => waitForIdentity(postgres, logger, starting),
    logger,
    starting,
  );
  const readModel = new LoggedReadModel(new PostgresReadModel({}, { postgres, shared, network }), logger);
  // It is called once the server listens.
  const announcement = new Announcement({
    kind: "server",
    name: () => serverName(portOf(server)),
    head: async () => readModel.head(),
  });
  const { remote, forwarding } = connectToNodes(
    { urls, token, describe: () => announcement.headers() },
    { closing, logger },
  );
  const { gateway } = remote;
  const operations = new ServerOperations({
    readModel,
    gateway: remote,
    calls: () => ({ gateway: remote.figures(), forwarded: forwarding.figures() }),
    databaseConnections: () => database.connections(),
    // It is called once the server listens.
    connections: () => ({ api: server.connections(), operations: operationsServer?.connections() }),
  });
  const webhooks = buildServeWebhooks(options, { databaseUrl, token, network, closing, logger });
  const deps = { readModel, network, identity, gateway, forwarding, webhooks, operations, token, logger };
  const server = buildServeHttp(options, deps);
  closing.add("http", () => server.close());
  countResponses(server.app, (response) => operations.http.responded(response));
  const byToken = createAccess({ token });
  const operationsServer = buildOperationsListener(options, { operations, byToken, logger }, server);
  if (operationsServer) closing.add("operations", () => operationsServer.close());
  const { port } = await listen(server, options);
  const operationsAddress = await operationsServer?.listen();
  if (operationsAddress) logger.info(operationsAddress, "serving health and metrics on a separate port");
  closing.add("announcement", announcement.begin(gateway));
  const url = `http://${shownHost(options.httpHost)}:${port}`;
  logger.info({ url, network: network.description.name, nodes: urls }, "API server started");
  return url;
}

/** Returns undefined before the server listens. */
const portOf = ({ app }: HttpServer): number | undefined =>
  (app.server.address() as AddressInfo | null)?.port;

/** @throws {ListenError} naming the option of an address that cannot be used */
async function listen(server: HttpServer, { httpHost: host, httpPort: port }: ServeOptions) {
  return server.listen().catch((error) => {
    throw explainListenError(error, { host, port, portFlag: "--http-port", hostFlag: "--http-host" });
  });
}

/** Time limit of a statement; reads have a shorter one. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** A request has more time, so that its response says that the database cannot be reached. */
const CONNECT_TIMEOUT_MS = 3_000;

/** The database; half of the connections are for shared transactions. */
class ServeDatabase {
  readonly postgres: Postgres;
  /** Connections for shared transactions. */
  readonly shared: Postgres;

  constructor({ databaseConnections }: ServeOptions, url: string, logger: Logger) {
    const open = (maxConnections: number) =>
      new Postgres({
        url,
        applicationName: "uniknode serve",
        maxConnections,
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
        statementTimeoutMs: STATEMENT_TIMEOUT_MS,
        isCommitAsynchronous: false,
        onConnectionLost: (err) => logger.warn({ err }, "lost a connection to the database"),
      });
    const ofShared = Math.ceil(databaseConnections / 2);
    this.shared = open(ofShared);
    this.postgres = open(databaseConnections - ofShared);
  }

  connections(): ConnectionFigures {
    const [one, other] = [this.postgres.connections(), this.shared.connections()];
    return { open: one.open + other.open, waiting: one.waiting + other.waiting };
  }

  async close(): Promise<void> {
    await Promise.all([this.postgres.close(), this.shared.close()]);
  }
}

/** Failures that are logged for the operator, because clients only get 503. */
const OUTAGES: readonly string[] = ["SNAPSHOT_UNREACHABLE", "SNAPSHOT_BUSY"];

/** Logs the first failure of reads because of the database, and the first success afterwards. */
export class LoggedReadModel implements ReadModel {
  readonly #model: ReadModel;
  readonly #logger: Logger;
  #isOut = false;

  constructor(model: ReadModel, logger: Logger) {
    this.#model = model;
    this.#logger = logger;
  }

  close(): ReturnType<ReadModel["close"]> {
    return this.#model.close();
  }

  head(): ReturnType<ReadModel["head"]> {
    const head = this.#model.head();
    if (!(head instanceof Promise)) return head;
    return head.then(
      (value) => {
        this.#noteSuccess();
        return value;
      },
      (error) => this.#noteFailure(error),
    );
  }

  snapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    return this.#model
      .snapshot((snapshot) => {
        // It is noted before the work, which can fail for other reasons.
        this.#noteSuccess();
        return work(snapshot);
      })
      .catch((error) => this.#noteFailure(error));
  }

  #noteFailure(error: unknown): never {
    if (error instanceof SnapshotError && OUTAGES.includes(error.code) && !this.#isOut) {
      this.#isOut = true;
      this.#logger.warn({ reason: reasonOf(error) }, error.message);
    }
    throw error;
  }

  #noteSuccess(): void {
    if (this.#isOut) this.#logger.info("reads from the database succeed again");
    this.#isOut = false;
  }
}
