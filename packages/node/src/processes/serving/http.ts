/** The HTTP listeners of the serving thread: the API with its console, and health and metrics, which may have a separate one. */

import { keyOfPem } from "../../facts/key-file.ts";
import { createNoteSigner, logName } from "../../facts/note.ts";
import { createFactReader } from "../../facts/reader.ts";
import type { Feed } from "../../feed/feed.ts";
import { warnOfUnnamedProxy } from "../../http/connections/proxies.ts";
import { readConsoleFiles } from "../../http/console/files.ts";
import type { Identity } from "../../http/core/api.ts";
import { createDevRoutes } from "../../http/dev/routes.ts";
import { createFactRoutes } from "../../http/facts/routes.ts";
import { createFeedRoutes } from "../../http/feed/routes.ts";
import {
  createHttpServer,
  type HttpDependencies,
  type HttpOptions,
  type HttpServer,
} from "../../http/server/server.ts";
import { createStreamRoutes } from "../../http/stream/routes.ts";
import type { Access } from "../../http/webhooks/access.ts";
import { createWebhookRoutes } from "../../http/webhooks/routes.ts";
import { createOperatorRoutes, type Operator } from "../../operations/http/operator.ts";
import { countResponses } from "../../operations/http/responses.ts";
import { createOperationRoutes, type Operations } from "../../operations/http/routes.ts";
import { createOperationsServer, type OperationsServer } from "../../operations/http/server.ts";
import type { ConnectionsOfListeners } from "../../operations/metrics/connections.ts";
import type { Metrics } from "../../operations/metrics/metrics.ts";
import { createRangeTest } from "../../platform/addresses/ranges.ts";
import { PROTOCOL_VERSION, programVersion } from "../../platform/lifecycle/version.ts";
import type { CallFigures } from "../../platform/threads/open-calls.ts";
import { createRankingBuilder } from "../../read/sqlite/rankings/builder.ts";
import { createSqliteReadModel } from "../../read/sqlite/read-model.ts";
import type { Stream } from "../../stream/stream.ts";
import type { AccessChecks } from "./access.ts";
import { openReader, type ServingContext } from "./context.ts";
import type { ServingOptions } from "./options.ts";
import { createSlowQueryThread, type SlowQueryThread } from "./slow-queries/thread.ts";
import type { OpenWebhooks } from "./webhooks.ts";

/** The parts of the thread that the routes serve. */
export type ServedParts = {
  readonly access: AccessChecks;
  /** Undefined: the webhook service is off. */
  readonly opened: OpenWebhooks | undefined;
  readonly stream: Stream;
  /** Undefined: the feed is disabled. */
  readonly feed: Feed | undefined;
  readonly operations: Operations;
  readonly operator: Operator;
  /** Called after every response of the API. */
  readonly responded: Metrics["http"]["responded"];
};

export type Http = {
  readonly connections: () => ConnectionsOfListeners;
  /** Returns the calls to the worker for slow queries. */
  readonly slowCalls: () => CallFigures;
  /** Starts to accept connections; returns the port of the API, and the port of a separate listener for operations. */
  listen(): Promise<{ readonly port: number; readonly operationsPort: number | undefined }>;
};

const RATE_LIMIT_WINDOW_MS = 60_000;
/** Time limit for reading the rows of a response in the serving thread, because all other requests wait for it. */
const READ_TIMEOUT_MS = 50;
/** Time limit in the worker for slow queries. */
const SLOW_READ_TIMEOUT_MS = 2_000;

/** Builds the listeners, which do not listen yet. */
export function buildHttp(context: ServingContext, parts: ServedParts): Http {
  const { data, closing, logger } = context;
  warnOfUnnamedProxy(data, logger);
  const ports: Record<string, number> = { "@arkecosystem/core-p2p": data.peerPort };
  const identity: Identity = {
    version: PROTOCOL_VERSION,
    genesisBlock: data.genesisBlock,
    feePolicy: data.feePolicy,
    ports,
  };
  const slowQueries = buildSlowQueries(context, identity);
  const server = createHttpServer(toHttpOptions(data), {
    readModel: buildReadModel(context),
    network: context.network,
    identity,
    slowQueries,
    gateway: context.gateway,
    plugins: buildPlugins(context, parts),
    ...(data.console === "on" && { console: buildConsole(context, parts) }),
    nowMs: Date.now,
    logger,
  });
  closing.add("http", server.close);
  countResponses(server.app, parts.responded);
  const operationsServer = buildOperationsListener(context, parts, server);

  return {
    connections: () => ({ api: server.connections(), operations: operationsServer?.connections() }),
    slowCalls: slowQueries.figures,
    async listen() {
      const { port } = await server.listen();
      const operationsAddress = await operationsServer?.listen();
      if (operationsAddress) logger.info(operationsAddress, "serving health and metrics on a separate port");
      // Known only once it listens; the register of webhooks is part of the same API.
      ports["@arkecosystem/core-api"] = port;
      if (parts.opened) ports["@arkecosystem/core-webhooks"] = port;
      return { port, operationsPort: operationsAddress?.port };
    },
  };
}

const toHttpOptions = (data: ServingOptions): HttpOptions => ({
  host: data.httpHost,
  port: data.httpPort,
  connections: { total: data.httpConnections, perClient: data.httpConnectionsPerClient },
  poolMaxPerRequest: data.poolMaxPerRequest,
  allowed: data.httpAllow,
  ...(data.httpTrustProxy !== undefined && { trustedProxies: data.httpTrustProxy }),
  ...(data.rateLimit > 0 && { rateLimit: { limit: data.rateLimit, windowMs: RATE_LIMIT_WINDOW_MS } }),
});

function buildReadModel(context: ServingContext): HttpDependencies["readModel"] {
  const { data, closing, logger, network } = context;
  const database = openReader(context, "reader");
  const rankings = createRankingBuilder(data.databasePath, (err) =>
    logger.error({ err }, "failed to build a ranking"),
  );
  closing.add("rankings", rankings.close);
  return createSqliteReadModel({ readTimeoutMs: READ_TIMEOUT_MS, rankings }, { database, network });
}

function buildSlowQueries({ data, closing }: ServingContext, identity: Identity): SlowQueryThread {
  const { databasePath, files, logFormat } = data;
  const slowQueries = createSlowQueryThread({
    databasePath,
    files,
    identity,
    readTimeoutMs: SLOW_READ_TIMEOUT_MS,
    logFormat,
  });
  closing.add("slow requests", slowQueries.close);
  return slowQueries;
}

/** Builds the routes of the API besides its resources. */
function buildPlugins(context: ServingContext, parts: ServedParts): HttpDependencies["plugins"] {
  const { data, network } = context;
  const { access, opened, stream, feed, operator } = parts;
  const facts = createFactReader(openReader(context, "facts reader"), network);
  const signer = createNoteSigner(logName(network.description.nethash), keyOfPem(data.checkpointKey));
  return [
    ...(opened ? [createWebhookRoutes(access.toRegister, opened.webhooks)] : []),
    createStreamRoutes(data.eventsPublic ? undefined : access.byToken, stream),
    createFactRoutes(facts, signer),
    ...(feed
      ? [createFeedRoutes({ byToken: access.byToken, isListed: createRangeTest(data.feedAllow) }, feed)]
      : []),
    buildDevRoutes(access.byToken, context, opened),
    createOperatorRoutes(access.byToken, operator),
  ];
}

/** Builds the console, and for its sessions the routes that require the token elsewhere. */
function buildConsole(
  context: ServingContext,
  { access, opened, stream, operations, operator }: ServedParts,
): NonNullable<HttpDependencies["console"]> {
  const { data, network } = context;
  const { hosts, sessions, isToken, byToken, bySession } = access;
  return {
    hosts,
    node: {
      devChain: data.isDevChain,
      eventsPublic: data.eventsPublic,
      network: network.description.name,
      version: programVersion(),
    },
    readFiles: readConsoleFiles,
    sessions,
    isToken,
    access: byToken,
    nowMs: Date.now,
    operations: {
      api: [
        ...(opened ? [createWebhookRoutes(bySession, opened.webhooks)] : []),
        createStreamRoutes(bySession, stream),
        ...(data.isDevChain ? [buildDevRoutes(bySession, context, opened)] : []),
        createOperatorRoutes(bySession, operator),
      ],
      health: createOperationRoutes(bySession, operations),
    },
  };
}

function buildDevRoutes(
  access: Access,
  { data, gateway, timestampOf }: ServingContext,
  opened: OpenWebhooks | undefined,
) {
  return createDevRoutes(access, {
    gateway,
    timestampOf,
    receivers: opened?.receivers,
    accounts: data.devAccounts,
  });
}

/** Builds the listener of health and metrics. Undefined: the API serves them. */
function buildOperationsListener(
  { data, closing, logger }: ServingContext,
  { access, operations }: ServedParts,
  server: HttpServer,
): OperationsServer | undefined {
  const routes = createOperationRoutes(data.metricsPublic ? undefined : access.byToken, operations);
  const { operationsHost: host, operationsPort: port } = data;
  if (port === undefined) {
    server.app.register(routes);
    return undefined;
  }
  const operationsServer = createOperationsServer({ host, port }, { routes, logger });
  closing.add("operations", operationsServer.close);
  return operationsServer;
}
