/**
 * A webhook receiver in one file: verifies each delivery and prints it.
 *
 *   npm run example -- receiver PORT SECRET
 *
 * SECRET is the token that the node returned when the webhook was created.
 */
import { createServer } from "node:http";
import { DeliveryError, verifyDelivery } from "@uniknode/client";

const [port, secret] = process.argv.slice(2);
if (!/^\d{1,5}$/.test(port ?? "") || Number(port) > 65535 || !secret) {
  console.error("usage: npm run example -- receiver PORT SECRET");
  process.exit(2);
}

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

const server = createServer(async (request, response) => {
  try {
    const body = await readBody(request);
    if (body === undefined) return response.writeHead(413, { connection: "close" }).end();
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
