/** A webhook receiver: an HTTP server on the loopback address that verifies deliveries. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  DeliveryError,
  type ReceivedDelivery,
  type VerifiedDelivery,
  verifyDelivery,
} from "@uniknode/client";
import { LRUCache } from "lru-cache";

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
const NO_CONTENT = 204;
const UNAUTHORIZED = 401;
const TOO_LARGE = 413;

/** Starts the receiver on a free port. */
export async function startReceiver({ secret, onRequest }: ReceiverDeps): Promise<Receiver> {
  const attempts = new LRUCache<string, number>({ max: MAX_COUNTED });

  const server = createServer((request, response) => {
    // The client has aborted the request.
    respond(request, response).catch(() => response.destroy());
  });

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if (!body) return end(response, TOO_LARGE);
    const received = await verify({ headers: request.headers, body });
    onRequest(received);
    end(response, received.status);
  }

  async function verify(received: ReceivedDelivery): Promise<ReceivedRequest> {
    const receivedMs = Date.now();
    try {
      const delivery = await verifyBothWays(received, await secret);
      const attempt = (attempts.get(delivery.id) ?? 0) + 1;
      attempts.set(delivery.id, attempt);
      return { receivedMs, status: NO_CONTENT, delivery, attempt };
    } catch (error) {
      if (!(error instanceof DeliveryError)) throw error;
      return { receivedMs, status: UNAUTHORIZED, refusal: error };
    }
  }

  server.listen(0, HOST);
  await once(server, "listening");
  const address = server.address() as AddressInfo;
  return {
    target: `http://${HOST}:${address.port}/`,
    async close() {
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
