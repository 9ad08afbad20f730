/** The HTTP server: transport rules around the resources, each of which is served under both prefixes. */
import type { AddressInfo } from "node:net";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { Network } from "@uniknode/protocol";
import { type FastifyPluginAsync, fastify } from "fastify";
import type { Logger } from "pino";
import type { RemoteGateway } from "../../gateway/gateway.ts";
import { createRangeTest, type RangeTest } from "../../platform/addresses.ts";
import { DEFAULT_POOL_MAX_PER_REQUEST } from "../../pool/pool-options.ts";
import type { ReadModel } from "../../read/port.ts";
import {
  addAccessList,
  addForwarded,
  addRateLimit,
  type RateLimitOptions,
} from "../connections/admission.ts";
import { addDeadlines, addHeldBytes, addSlowReaders } from "../connections/bounds.ts";
import { type ConnectionBounds, type ConnectionFigures, Connections } from "../connections/connections.ts";
import {
  addOddRequests,
  closeSoon,
  type ListenerOptions,
  listening,
  respondingToUnreadable,
} from "../connections/listener.ts";
import { addConsole, type ConsoleDependencies, type ConsoleOptions } from "../console/console.ts";
import { Api, type Identity, type Resource } from "../core/api.ts";
import { API_PREFIXES, type Server } from "../core/app.ts";
import { addAtLeast } from "../core/at-least.ts";
import { addBodies, MAX_BODY_BYTES } from "../core/bodies.ts";
import { addHeadCache } from "../core/head-cache.ts";
import { addCommonHeaders, addCors } from "../core/headers.ts";
import { responseText } from "../core/text.ts";
import { addDocumentation, addLanding } from "../documentation/documentation.ts";
import { addQueryRules, validatorFactory } from "../requests/parameters.ts";
import { blockchain, rounds } from "../resources/blockchain.ts";
import { blocks } from "../resources/blocks.ts";
import { delegates } from "../resources/delegates.ts";
import { entities } from "../resources/entities.ts";
import { locks } from "../resources/locks.ts";
import { node } from "../resources/node.ts";
import { peers } from "../resources/peers.ts";
import { transactionTypeLists } from "../resources/transaction-types.ts";
import { transactions } from "../resources/transactions.ts";
import { uniks } from "../resources/uniks.ts";
import { votes } from "../resources/votes.ts";
import { wallets } from "../resources/wallets.ts";
import { addFailures, addMethods, respondToUnroutable } from "./failures.ts";
import { addBatches, addCompression } from "./sending.ts";
import { addSlowQueries, type SlowQueryWorker } from "./slow-queries.ts";
import { addEmptySegments, addUnknownPaths } from "./unknown-paths.ts";

export type HttpOptions = ListenerOptions & {
  readonly host: string;
  /** Port to listen on; 0 for any free port. */
  readonly port: number;
  /** Limits of connections. Default: 2,000, and 500 of one client. */
  readonly connections?: ConnectionBounds;
  /** Rate limit. Absent: no limit. */
  readonly rateLimit?: RateLimitOptions;
  /** Timeout of a response, after which the client gets 503. */
  readonly responseTimeoutMs?: number;
  /** Time for the client to read a response, after which the connection is closed. */
  readonly takeTimeoutMs?: number;
  /** Maximum bytes of incomplete bodies and unread responses of all connections. */
  readonly maxHeldBytes?: number;
  /** Proxies whose `X-Forwarded-For` has the address of the client (`platform/addresses.ts`). Absent: none. */
  readonly trustedProxies?: string;
  /** Addresses that are served (`platform/addresses.ts`); others get 403. Absent: all. */
  readonly allowed?: string;
  /** Maximum items of one `POST /transactions`. Default: 40. */
  readonly poolMaxPerRequest?: number;
};

export type HttpDependencies = {
  /** Read model owned by the server; closed with it. */
  readonly readModel: ReadModel;
  readonly network: Network;
  readonly identity: Identity;
  readonly gateway: RemoteGateway;
  /** Further endpoints, each served under both prefixes: webhooks, the live stream, the commands of a dev chain. */
  readonly plugins: readonly FastifyPluginAsync[];
  /** The console; absent: no console. */
  readonly console?: ConsoleOptions & ConsoleDependencies;
  /** Adds the description of the API; by default that of the routes. */
  readonly addDocumentation?: (app: Server) => void;
  /** True on API servers: responses name the block that they were read from, and clients can demand a block. */
  readonly namesBlocks?: boolean;
  /** Worker for slow queries; absent: slow requests get 503. */
  readonly slowQueries?: SlowQueryWorker;
  /** Unix time in milliseconds. */
  readonly nowMs: () => number;
  readonly logger: Logger;
};

const RESOURCES: readonly Resource[] = [
  blockchain,
  blocks,
  delegates,
  entities,
  locks,
  node,
  peers,
  rounds,
  transactions,
  transactionTypeLists,
  uniks,
  votes,
  wallets,
];

/** Default timeout of responses (http-api.md 1.7). */
const RESPONSE_TIMEOUT_MS = 8_000;
const TAKE_TIMEOUT_MS = 60_000;
const MAX_HELD_BYTES = 128 * 1024 * 1024;
/** Time for which a finished response waits for others. */
const BATCH_WAIT_MS = 2;
const DEFAULT_CONNECTION_BOUNDS: ConnectionBounds = { total: 2_000, perClient: 500 };

export class HttpServer {
  readonly app: Server;
  readonly #address: Pick<HttpOptions, "host" | "port">;
  readonly #connections: Connections;

  constructor(options: HttpOptions, dependencies: HttpDependencies) {
    const isProxy = createRangeTest(options.trustedProxies ?? "");
    const connections = new Connections(options.connections ?? DEFAULT_CONNECTION_BOUNDS, isProxy);
    const app = createApp(options, connections, isProxy);
    app.addHook("onClose", (_app, done) => {
      dependencies.readModel.close();
      done();
    });
    addTransport(app, { options, dependencies, connections, isProxy });
    addRoutes(app, options, dependencies);
    this.app = app;
    this.#address = { host: options.host, port: options.port };
    this.#connections = connections;
  }

  connections(): ConnectionFigures {
    return this.#connections.figures();
  }

  /** Starts to accept connections; resolves to the address. */
  async listen(): Promise<AddressInfo> {
    await this.app.listen(this.#address);
    return this.app.server.address() as AddressInfo;
  }

  /** Stops accepting requests, waits briefly for running requests, and closes every connection. */
  close(): Promise<void> {
    return closeSoon(this.app);
  }
}

const createApp = (options: HttpOptions, connections: Connections, isProxy: RangeTest): Server =>
  fastify({
    ...listening(options, connections),
    logger: false,
    trustProxy: options.trustedProxies === undefined ? false : isProxy,
    bodyLimit: MAX_BODY_BYTES,
    // Property keys are long and percent-encoded; the length of a URL has its own bound.
    routerOptions: { maxParamLength: 16_384 },
    // The runtime's serialiser is faster than one compiled from the schema (docs/decisions/0017-write-json-without-a-compiled-serializer.md).
    schemaController: {
      compilersFactory: { buildValidator: validatorFactory, buildSerializer: () => () => responseText },
    },
    frameworkErrors: respondToUnroutable,
    clientErrorHandler: respondingToUnreadable(connections),
  }).withTypeProvider<TypeBoxTypeProvider>();

type Transport = {
  readonly options: HttpOptions;
  readonly dependencies: HttpDependencies;
  readonly connections: Connections;
  readonly isProxy: RangeTest;
};

/** Adds the rules that apply to every request; hooks run in this order. */
function addTransport(app: Server, { options, dependencies, connections, isProxy }: Transport): void {
  const { logger, nowMs, readModel } = dependencies;
  const { allowed } = options;
  addOddRequests(app);
  addSlowReaders(app, connections, options.takeTimeoutMs ?? TAKE_TIMEOUT_MS);
  addHeldBytes(app, connections, options.maxHeldBytes ?? MAX_HELD_BYTES);
  addDeadlines(app, options.responseTimeoutMs ?? RESPONSE_TIMEOUT_MS);
  addForwarded(app, isProxy, logger);
  addCommonHeaders(app);
  if (allowed !== undefined) addAccessList(app, createRangeTest(allowed));
  addCors(app);
  addEmptySegments(app);
  if (options.rateLimit) addRateLimit(app, options.rateLimit, nowMs);
  app.decorateRequest("atLeast", null);
  if (dependencies.namesBlocks) addAtLeast(app);
  addHeadCache(app, { readModel, nowMs });
  addBodies(app);
  addQueryRules(app);
  addCompression(app);
  addBatches(app, BATCH_WAIT_MS);
  const methodsOf = addMethods(app);
  addFailures(app, logger, methodsOf);
  addUnknownPaths(app, methodsOf);
}

/** Adds documentation, console and, below both prefixes, the resources and the plugins. */
function addRoutes(app: Server, options: HttpOptions, dependencies: HttpDependencies): void {
  const { console, logger, network, plugins, slowQueries } = dependencies;
  (dependencies.addDocumentation ?? addDocumentation)(app);
  const { poolMaxPerRequest = DEFAULT_POOL_MAX_PER_REQUEST } = options;
  const api = new Api(poolMaxPerRequest, dependencies);
  addLanding(app, network.description.name, console !== undefined);
  if (console) addConsole(app, console, console);
  for (const prefix of API_PREFIXES) {
    app.register(
      async (scope) => {
        if (slowQueries) addSlowQueries(scope as Server, logger, slowQueries);
        for (const resource of RESOURCES) resource(scope as Server, api);
        for (const plugin of plugins) await scope.register(plugin);
      },
      { prefix },
    );
  }
}
