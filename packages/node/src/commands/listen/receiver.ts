/** A webhook receiver: an HTTP server on the loopback address that verifies deliveries. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import {
  DeliveryError,
  type ReceivedDelivery,
  type VerifiedDelivery,
  verifyDelivery,
} from "@uniknode/client";
import { LRUCache } from "lru-cache";
import { explainListenError } from "../../platform/addresses.ts";

export type ReceiverOptions = {
  /** Port; 0 selects a free port. */
  readonly port: number;
  /** Status of the response to verified deliveries. */
  readonly status: number;
  readonly delayMs: number;
};

type ReceiverDeps = {
  /** Secret of the webhook; a promise, because the first delivery may arrive before it is known. */
  readonly secret: Promise<string>;
  readonly onRequest: (received: ReceivedRequest) => void;
};

/** A received request, with the status of its response. */
export type ReceivedRequest = { readonly receivedMs: number; readonly status: number } & (
  | {
      readonly delivery: VerifiedDelivery;
      /** Number of times this delivery was received. */
      readonly attempt: number;
    }
  /** The signature is invalid and the content is not used. */
  | { readonly refusal: DeliveryError }
);

export type Receiver = {
  /** URL for deliveries. */
  readonly target: string;
  /** Closes every connection. */
  close(): Promise<void>;
};

const HOST = "127.0.0.1";
/** Upper bound on the size of a delivery. */
const MAX_BODY_BYTES = 16 * 1_048_576;
/** Maximum of deliveries whose attempts are counted. */
const MAX_COUNTED = 10_000;
const UNAUTHORIZED = 401;
const TOO_LARGE = 413;

/**
 * Starts the receiver.
 *
 * @throws {ListenError} if the port is in use
 */
export async function startReceiver(
  { port, status, delayMs }: ReceiverOptions,
  { secret, onRequest }: ReceiverDeps,
): Promise<Receiver> {
  const attempts = new LRUCache<string, number>({ max: MAX_COUNTED });
  const closing = new AbortController();

  const server = createServer((request, response) => {
    // The client has aborted the request.
    respond(request, response).catch(() => response.destroy());
  });

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if (!body) return end(response, TOO_LARGE);
    const received = await verify({ headers: request.headers, body });
    onRequest(received);
    if (delayMs > 0) await wait(delayMs, undefined, { signal: closing.signal });
    end(response, received.status);
  }

  async function verify(received: ReceivedDelivery): Promise<ReceivedRequest> {
    const receivedMs = Date.now();
    try {
      const delivery = await verifyBothWays(received, await secret);
      const attempt = (attempts.get(delivery.id) ?? 0) + 1;
      attempts.set(delivery.id, attempt);
      return { receivedMs, status, delivery, attempt };
    } catch (error) {
      if (!(error instanceof DeliveryError)) throw error;
      return { receivedMs, status: UNAUTHORIZED, refusal: error };
    }
  }

  server.listen(port, HOST);
  await once(server, "listening").catch((error) => {
    throw explainListenError(error, { host: HOST, port, portFlag: "--port" });
  });
  const address = server.address() as AddressInfo;
  return {
    target: `http://${HOST}:${address.port}/`,
    async close() {
      closing.abort();
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** Verifies the signature, and the half of the secret that receivers of the old node check. */
async function verifyBothWays(received: ReceivedDelivery, secret: string): Promise<VerifiedDelivery> {
  await verifyDelivery(received, { secret, scheme: "authorization" });
  return verifyDelivery(received, { secret });
}

/** Returns undefined if the body is too large. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status, { "content-length": 0 }).end();
}
