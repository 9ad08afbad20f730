/** The receiver: verifies that a delivery comes from the node, and hands it on. */
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { DeliveryError, verifyDelivery } from "@uniknode/client";

/**
 * An HTTP server for deliveries; the caller lets it listen.
 *
 * @param {object} options
 * @param {() => string} options.secret the secret of the webhook
 * @param {(delivery: import("@uniknode/client").Delivery) => void} options.onDelivery what to do with a verified delivery
 */
export function createReceiver({ secret, onDelivery }) {
  return createServer(async (request, response) => {
    try {
      // The raw body: a body that was parsed and written again has another signature.
      const body = await buffer(request);
      onDelivery(await verifyDelivery({ headers: request.headers, body }, { secret: secret() }));
      response.writeHead(204).end();
    } catch (error) {
      console.error(`refused: ${error.message}`);
      response.writeHead(error instanceof DeliveryError ? 401 : 500).end();
    }
  });
}
