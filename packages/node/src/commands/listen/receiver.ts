/** The receiving end: an HTTP server on the loopback address that verifies whatever arrives. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { type Delivery, DeliveryError, type ReceivedDelivery, verifyDelivery } from "@uniknode/client";
import { LRUCache } from "lru-cache";

export type ReceiverOptions = {
  /** 0 takes a free one. */
  readonly port: number;
  /** Status of the answer to verified deliveries. */
  readonly status: number;
  readonly delayMs: number;
};

export type ReceiverDeps = {
  /** The secret of the webhook, which may be on its way when the first delivery comes. */
  readonly secret: Promise<string>;
  readonly onArrival: (arrival: Arrival) => void;
};

/** A request that came, with what is answered to it. */
export type Arrival = { readonly receivedMs: number; readonly status: number } & (
  | {
      readonly delivery: Delivery;
      /** How many times this delivery has come here. */
      readonly attempt: number;
    }
  /** Nothing of it is to be trusted. */
  | { readonly refusal: DeliveryError }
);

export type Receiver = {
  /** Where deliveries are to be sent. */
  readonly target: string;
  /** Cuts every connection. */
  close(): Promise<void>;
};

/** More than the node ever sends. */
const MAX_BODY_BYTES = 16 * 1_048_576;
/** Deliveries whose attempts are counted. */
const MAX_COUNTED = 10_000;
const UNAUTHORIZED = 401;
const TOO_LARGE = 413;

/**
 * Starts to listen.
 *
 * @throws {Error} when the port is taken
 */
export async function startReceiver(
  { port, status, delayMs }: ReceiverOptions,
  { secret, onArrival }: ReceiverDeps,
): Promise<Receiver> {
  const attempts = new LRUCache<string, number>({ max: MAX_COUNTED });
  const closing = new AbortController();

  const server = createServer((request, response) => {
    // A request that breaks off on its way has nobody to answer to.
    answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if (!body) return end(response, TOO_LARGE);
    const arrival = await judge({ headers: request.headers, body });
    onArrival(arrival);
    if (delayMs > 0) await wait(delayMs, undefined, { signal: closing.signal });
    end(response, arrival.status);
  }

  async function judge(received: ReceivedDelivery): Promise<Arrival> {
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

  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address() as AddressInfo;
  return {
    target: `http://127.0.0.1:${address.port}/`,
    async close() {
      closing.abort();
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** By the signature, and by the half of the secret that receivers of the old network look at. */
async function verifyBothWays(received: ReceivedDelivery, secret: string): Promise<Delivery> {
  await verifyDelivery(received, { secret, scheme: "authorization" });
  return verifyDelivery(received, { secret });
}

/** Nothing for a body beyond all measure. */
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
