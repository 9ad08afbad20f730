/** The companion for exchanges: JSON-RPC over HTTP, beside a node and a client of it (http-api.md 10.2). */
import type { AddressInfo } from "node:net";
import { createClient, jsonText } from "@uniknode/client";
import { fastify } from "fastify";
import type { Logger } from "pino";
import { createRangeTest } from "../addresses/ranges.ts";
import { networkOf } from "../sending/sender.ts";
import { createAnswerer } from "./answer.ts";
import { blockMethods } from "./methods/blocks.ts";
import { transactionMethods } from "./methods/transactions.ts";
import { walletMethods } from "./methods/wallets.ts";
import { openRpcStore } from "./store.ts";

export type RpcOptions = {
  /** Base URL of the node. */
  readonly url: string;
  readonly rpcHost: string;
  /** 0 takes a free one. */
  readonly rpcPort: number;
  /** Addresses and networks that may call, as in `http-allow`. */
  readonly rpcAllow: string;
  /** Path of the database file; `:memory:` for none. */
  readonly rpcData: string;
};

export type RpcServer = { readonly url: string; close(): Promise<void> };

const MEDIA_TYPE = "application/vnd.api+json";
const METHODS = { ...blockMethods, ...transactionMethods, ...walletMethods };

/** Time for each answer of the node. */
const NODE_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 15_000;
const MAX_BODY_BYTES = 1_048_576;

/**
 * Starts the service; the answer is where it listens.
 *
 * @throws {ApiError} when the node does not answer
 * @throws {Error} when the file or the port cannot be had
 */
export async function startRpc(options: RpcOptions, logger: Logger): Promise<RpcServer> {
  const client = createClient({ url: options.url, timeoutMs: NODE_TIMEOUT_MS });
  const network = await networkOf(client);
  const store = openRpcStore(options.rpcData);
  const answer = createAnswerer(METHODS, { client, network, store }, (method, error) =>
    logger.warn({ method, err: error }, "call failed"),
  );
  const isAllowed = createRangeTest(options.rpcAllow);
  const app = fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: true,
  });
  app.addHook("onRequest", async (request, reply) => {
    if (!isAllowed(request.ip)) return reply.code(401).send(refusal(401, "Unauthorized"));
    const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
    if (type !== undefined) {
      if (type !== MEDIA_TYPE) return reply.code(415).send(refusal(415, "Unsupported Media Type"));
      return;
    }
    const { accept } = request.headers;
    if (accept !== undefined && !accept.includes(MEDIA_TYPE)) {
      return reply.code(406).send(refusal(406, "Not Acceptable"));
    }
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "string" }, (_request, text, done) => done(null, text));
  app.post("/", async (request, reply) => {
    const answered = await answer(typeof request.body === "string" ? request.body : "");
    return reply.type(MEDIA_TYPE).send(jsonText(answered));
  });
  try {
    await app.listen({ host: options.rpcHost, port: options.rpcPort });
  } catch (error) {
    store.close();
    throw error;
  }
  const { address, family, port } = app.server.address() as AddressInfo;
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${port}`,
    async close() {
      await app.close();
      store.close();
    },
  };
}

const refusal = (statusCode: number, error: string) => ({ statusCode, error, message: error });
