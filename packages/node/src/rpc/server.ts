/** The JSON-RPC service for exchanges: an HTTP server that is a client of a node (http-api.md 10.2). */
import type { AddressInfo } from "node:net";
import { createClient, jsonText } from "@uniknode/client";
import { fastify } from "fastify";
import type { Logger } from "pino";
import { addHeldBytes } from "../http/connections/bounds.ts";
import { type ConnectionBounds, Connections } from "../http/connections/connections.ts";
import { closeSoon, listening } from "../http/connections/listener.ts";
import type { Server } from "../http/core/app.ts";
import { createCrossSiteTest, createRangeTest, explainListenError } from "../platform/addresses.ts";
import { STATUS_CODES } from "../platform/http.ts";
import { networkOf } from "../submission/sender.ts";
import { createBodyHandler } from "./body-handler.ts";
import { Nonces } from "./define-method.ts";
import { Derivations } from "./derivations.ts";
import { METHODS } from "./methods.ts";
import { RpcStore } from "./store.ts";

type RpcOptions = {
  /** Base URL of the node. */
  readonly url: string;
  readonly rpcHost: string;
  /** 0 selects a free one. */
  readonly rpcPort: number;
  /** Addresses and networks that may call, as in `http-allow`. */
  readonly rpcAllow: string;
  /** Further names and addresses of this machine that callers may use as Host. */
  readonly rpcHosts: readonly string[];
  /** Maximum number of key derivations per minute; 0 for no limit. */
  readonly derivationsPerMinute: number;
  /** Path of the database file; `:memory:` for none. */
  readonly rpcData: string;
};

export type RpcServer = { readonly url: string; close(): Promise<void> };

const MEDIA_TYPE = "application/vnd.api+json";

/** Timeout of each request to the node. */
const NODE_TIMEOUT_MS = 10_000;
/** Maximum wait after a 429 of the node; after a longer one, the caller gets the node's response. */
const NODE_MAX_WAIT_MS = 1_000;
const CONNECTION_BOUNDS: ConnectionBounds = { total: 200, perClient: 200 };
const MAX_HELD_BYTES = 64 * 1024 * 1024;
const MAX_BODY_BYTES = 1_048_576;

/**
 * Starts the service; resolves to its URL.
 *
 * @throws {ApiError} when the node does not respond
 * @throws {ListenError} when it cannot listen
 * @throws {Error} when the file cannot be opened
 */
export async function startRpc(options: RpcOptions, logger: Logger): Promise<RpcServer> {
  const clientOptions = { url: options.url, timeoutMs: NODE_TIMEOUT_MS, maxWaitMs: NODE_MAX_WAIT_MS };
  const network = await networkOf(createClient(clientOptions));
  const store = new RpcStore(options.rpcData);
  const derivations = new Derivations({ perMinute: options.derivationsPerMinute, nowMs: Date.now });
  const nonces = new Nonces();
  const handleBody = createBodyHandler(
    METHODS,
    (signal) => {
      const client = createClient({ ...clientOptions, signal });
      return { client, network, store, nonces: nonces.open(), derivations, signal };
    },
    (method, error) => logger.warn({ method, err: error }, `failed to execute ${method}`),
  );
  const isAllowed = createRangeTest(options.rpcAllow);
  const crossSite = createCrossSiteTest([options.rpcHost, ...options.rpcHosts], "--rpc-hosts");
  const connections = new Connections(CONNECTION_BOUNDS, () => false);
  const listener = listening({}, connections);
  const app: Server = fastify({ ...listener, logger: false, bodyLimit: MAX_BODY_BYTES });
  addHeldBytes(app, connections, MAX_HELD_BYTES);
  app.addHook("onRequest", async ({ ip, host, headers, socket }, reply) => {
    if (!isAllowed(ip)) return reply.code(401).send(refusal(401));
    const { origin } = headers;
    const reason = crossSite({ host, origin, localAddress: socket.localAddress });
    if (reason !== undefined) return reply.code(403).send(refusal(403, reason));
    const type = headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
    if (type !== MEDIA_TYPE) {
      return reply.code(415).send(refusal(415, `Content-Type must be ${MEDIA_TYPE}`));
    }
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "string" }, (_request, text, done) => done(null, text));
  app.post("/", async (request, reply) => {
    const response = await handleBody(typeof request.body === "string" ? request.body : "", request.ip);
    return reply.type(MEDIA_TYPE).send(jsonText(response));
  });
  try {
    await app.listen({ host: options.rpcHost, port: options.rpcPort });
  } catch (error) {
    store.close();
    throw explainListenError(error as Error, {
      host: options.rpcHost,
      port: options.rpcPort,
      hostFlag: "--rpc-host",
      portFlag: "--rpc-port",
    });
  }
  const { address, family, port } = app.server.address() as AddressInfo;
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${port}`,
    async close() {
      await closeSoon(app);
      store.close();
    },
  };
}

function refusal(statusCode: number, message = STATUS_CODES[statusCode]) {
  return { statusCode, error: STATUS_CODES[statusCode], message };
}
