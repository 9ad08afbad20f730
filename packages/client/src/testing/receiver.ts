/** A receiver on the loopback address that verifies deliveries and accepts them. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { verifyDelivery } from "../deliveries/verify.ts";

const HOST = "127.0.0.1";
/** Upper bound on the size of a delivery. */
const MAX_BODY_BYTES = 16 * 1_048_576;
const ACCEPTED = 204;
const REFUSED = 401;

export type Receiver = {
  /** URL for deliveries. */
  readonly target: string;
  /** Sets the secret. Deliveries that arrive earlier wait for it. */
  readonly verifyWith: (secret: string) => void;
  /** Closes every connection. */
  readonly close: () => Promise<void>;
};

export async function startReceiver(): Promise<Receiver> {
  const secret = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    statusOf(request, secret.promise)
      .then((status) => response.writeHead(status, { "content-length": 0 }).end())
      // The node has aborted the request.
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, HOST, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    target: `http://${HOST}:${port}/`,
    verifyWith: secret.resolve,
    close: () => close(server),
  };
}

async function statusOf(request: IncomingMessage, secret: Promise<string>): Promise<number> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return REFUSED;
    chunks.push(chunk);
  }
  try {
    await verifyDelivery({ headers: request.headers, body: Buffer.concat(chunks) }, { secret: await secret });
    return ACCEPTED;
  } catch {
    return REFUSED;
  }
}

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
