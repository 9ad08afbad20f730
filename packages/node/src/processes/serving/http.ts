/** The HTTP listeners of the serving thread: one for the API and its console, and optionally one for health and metrics. */
import type { Logger } from "pino";
import { keyOfPem, logName, NoteSigner } from "../../facts/note.ts";
import type { RemoteProcesses } from "../../gateway/remote-processes.ts";
import { warnOfUnnamedProxy } from "../../http/connections/admission.ts";
import type { Identity } from "../../http/core/api.ts";
import { createDevRoutes } from "../../http/dev/routes.ts";
import { createFactRoutes } from "../../http/facts/routes.ts";
import { createFeedRoutes } from "../../http/feed/routes.ts";
import { createGatewayRoutes } from "../../http/gateway/routes.ts";
import { createHandOverRoutes } from "../../http/hand-over/routes.ts";
import { type HttpDependencies, HttpServer } from "../../http/server/server.ts";
import { createStreamRoutes } from "../../http/stream/routes.ts";
import type { Access } from "../../http/webhooks/access.ts";
import { createWebhookRoutes } from "../../http/webhooks/routes.ts";
import { createOperatorRoutes, type Operator } from "../../operations/http/operator.ts";
import { createOperationRoutes, type OperationsServer } from "../../operations/http/server.ts";
import { type ConnectionsOfListeners, countResponses } from "../../operations/metrics/http.ts";
import { createRangeTest } from "../../platform/addresses.ts";
import { PROTOCOL_VERSION } from "../../platform/lifecycle/program.ts";
import type { CallFigures } from "../../platform/threads/call.ts";
import type { Stream } from "../../stream/stream.ts";
import { type AccessChecks, buildConsole, buildOperationsListener, toHttpOptions } from "./listeners.ts";
import type { ServingOperations } from "./operations.ts";
import type { ServingContext, SlowQueries, Sources } from "./sources.ts";
import type { OpenWebhooks } from "./webhooks.ts";

/** The parts of the thread that the routes serve. */
type ServedParts = {
  readonly access: AccessChecks;
  /** Undefined: the webhook service is off. */
  readonly opened: OpenWebhooks | undefined;
  readonly stream: Stream;
  readonly sources: Pick<Sources, "readModel" | "openSlowQueries" | "facts" | "feed" | "remoteCalls">;
  /** Notes mirrors and API servers that use this node. */
  readonly processes: Pick<RemoteProcesses, "note">;
  readonly operations: ServingOperations;
  readonly operator: Operator;
};

const NO_CALLS: CallFigures = { open: 0, timedOut: 0, refused: 0 };

export class ServingHttp {
  readonly #server: HttpServer;
  readonly #operationsServer: OperationsServer | undefined;
  readonly #slowQueries: SlowQueries | undefined;
  /** Ports of the services of this node, which responses contain. */
  readonly #ports: Record<string, number>;
  readonly #hasWebhooks: boolean;
  readonly #logger: Logger;

  /** Builds the listeners, which do not listen yet. */
  constructor(context: ServingContext, parts: ServedParts) {
    const { data, closing, logger } = context;
    const { operations, access } = parts;
    warnOfUnnamedProxy(data, logger);
    this.#logger = logger;
    this.#hasWebhooks = parts.opened !== undefined;
    this.#ports = { "@arkecosystem/core-p2p": data.peerPort };
    const identity: Identity = {
      version: PROTOCOL_VERSION,
      genesisBlock: data.genesisBlock,
      feePolicy: data.feePolicy,
      ports: this.#ports,
    };
    const { readModel, openSlowQueries } = parts.sources;
    const slowQueries = openSlowQueries?.(identity);
    this.#slowQueries = slowQueries;
    const server = new HttpServer(toHttpOptions(data), {
      readModel,
      network: context.network,
      identity,
      ...(slowQueries && { slowQueries }),
      gateway: context.gateway,
      plugins: buildPlugins(context, parts),
      ...(data.console === "on" && { console: buildServedConsole(context, parts) }),
      nowMs: Date.now,
      logger,
    });
    this.#server = server;
    closing.add("http", () => server.close());
    countResponses(server.app, (response) => operations.http.responded(response));
    const deps = { operations, byToken: access.byToken, logger };
    const operationsServer = buildOperationsListener(data, deps, server);
    this.#operationsServer = operationsServer;
    if (operationsServer) closing.add("operations", () => operationsServer.close());
  }

  connections(): ConnectionsOfListeners {
    return { api: this.#server.connections(), operations: this.#operationsServer?.connections() };
  }

  /** Returns the calls to the worker for slow queries. */
  slowCalls(): CallFigures {
    return this.#slowQueries?.figures() ?? NO_CALLS;
  }

  /** Starts to accept connections; returns the port of the API, and the port of a separate listener for operations. */
  async listen(): Promise<{ readonly port: number; readonly operationsPort: number | undefined }> {
    const { port } = await this.#server.listen();
    const operationsAddress = await this.#operationsServer?.listen();
    if (operationsAddress)
      this.#logger.info(operationsAddress, "serving health and metrics on a separate port");
    // It is known only after the server listens; the register of webhooks is part of the same API.
    this.#ports["@arkecosystem/core-api"] = port;
    if (this.#hasWebhooks) this.#ports["@arkecosystem/core-webhooks"] = port;
    return { port, operationsPort: operationsAddress?.port };
  }
}

/** Builds the routes of the API besides its resources. */
function buildPlugins(context: ServingContext, parts: ServedParts): HttpDependencies["plugins"] {
  const { data, network } = context;
  const { access, opened, stream, operator } = parts;
  const { facts, feed, remoteCalls } = parts.sources;
  const feedAccess = { byToken: access.byToken, isListed: createRangeTest(data.feedAllow) };
  const signer = new NoteSigner(logName(network.description.nethash), keyOfPem(data.checkpointKey));
  return [
    ...(opened ? [createWebhookRoutes(access.byToken, opened.service.requests)] : []),
    createStreamRoutes(data.eventsPublic ? undefined : access.byToken, stream),
    createFactRoutes(facts, signer),
    ...(feed ? [createFeedRoutes(feedAccess, feed, parts.processes)] : []),
    ...(feed && opened ? [createHandOverRoutes(feedAccess, opened.handOver)] : []),
    ...(remoteCalls ? [createGatewayRoutes(feedAccess, remoteCalls, parts.processes)] : []),
    buildDevRoutes(access.byToken, context, opened),
    createOperatorRoutes(access.byToken, operator),
  ];
}

/** Builds the console, and for its sessions the routes that require the token elsewhere. */
function buildServedConsole(
  context: ServingContext,
  { access, opened, stream, operations, operator }: ServedParts,
): NonNullable<HttpDependencies["console"]> {
  const { isDevChain, isOnDemand, eventsPublic } = context.data;
  const { bySession } = access;
  const network = context.network.description.name;
  const node = { devChain: isDevChain, onDemand: isOnDemand, eventsPublic, network };
  return buildConsole(access, node, {
    api: [
      ...(opened ? [createWebhookRoutes(bySession, opened.service.requests)] : []),
      createStreamRoutes(bySession, stream),
      ...(isDevChain ? [buildDevRoutes(bySession, context, opened)] : []),
      createOperatorRoutes(bySession, operator),
    ],
    health: createOperationRoutes(bySession, operations),
  });
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
