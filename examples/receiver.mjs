/**
 * A webhook receiver in one file: verifies each delivery and prints it.
 *
 *   npm run example -- receiver PORT SECRET
 *
 * SECRET is the token that the node returned when the webhook was created.
 */
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { DeliveryError, verifyDelivery } from "@uniknode/client";

const [port, secret] = process.argv.slice(2);
if (!/^\d{1,5}$/.test(port ?? "") || Number(port) > 65535 || !secret) {
  console.error("usage: npm run example -- receiver PORT SECRET");
  process.exit(2);
}

const server = createServer(async (request, response) => {
  try {
    const body = await buffer(request);
    const { id, event, height, data } = await verifyDelivery({ headers: request.headers, body }, { secret });
    console.log(`verified ${id}: ${event} at height ${height}`, JSON.stringify(data));
    response.writeHead(204).end();
  } catch (error) {
    console.log(`refused: ${error.message}`);
    response.writeHead(error instanceof DeliveryError ? 401 : 500).end();
  }
});
server.on("error", ({ code }) => {
  console.error(`receiver: port ${port} cannot be used (${code}); choose another one, or 0 for a free one`);
  process.exitCode = 1;
});
server.listen(Number(port), "127.0.0.1", () =>
  console.log(`listening on http://127.0.0.1:${server.address().port}`),
);
