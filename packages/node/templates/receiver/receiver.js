/** The receiver: verifies that a delivery comes from the node, and hands it on. */
import { createServer } from "node:http";
import { DeliveryError, verifyDelivery } from "@uniknode/client";

/** Longest body: a delivery has less than 400 KiB. */
const MAX_BYTES = 1_048_576;

/** Returns the raw body: a body that was parsed and written again has another signature. Returns undefined if it is too long. */
async function readBody(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    length += chunk.length;
    if (length > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * An HTTP server for deliveries; the caller lets it listen.
 *
 * @param {object} options
 * @param {() => string} options.secret the secret of the webhook
 * @param {(delivery: import("@uniknode/client").Delivery) => void | Promise<void>} options.onDelivery stores a verified delivery; if it fails,
 *   the node sends the delivery again
 */
export function createReceiver({ secret, onDelivery }) {
  return createServer(async (request, response) => {
    try {
      const body = await readBody(request);
      if (body === undefined) return response.writeHead(413, { connection: "close" }).end();
      await onDelivery(await verifyDelivery({ headers: request.headers, body }, { secret: secret() }));
      response.writeHead(204).end();
    } catch (error) {
      console.error(`refused: ${error.message}`);
      response.writeHead(error instanceof DeliveryError ? 401 : 500).end();
    }
  });
}
