/**
 * A webhook receiver in one file: checks where a delivery comes from, and shows it.
 *
 *   npm run example -- receiver PORT SECRET
 *
 * SECRET is the 64-digit token that the node returned when the webhook was created.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const [port, token] = process.argv.slice(2);
if (!port || !/^[0-9a-f]{64}$/.test(token ?? "")) {
  console.error("usage: npm run example -- receiver PORT SECRET");
  process.exit(2);
}

/** The header is the first half of the token; the second half never travels. */
const isFromNode = (headers) => equal(`${headers.authorization}${token.slice(32)}`, token);

/** The signature of the Standard Webhooks specification; the key is the token itself. */
function isSigned(headers, body) {
  const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  const signature = createHmac("sha256", Buffer.from(token, "hex")).update(signed).digest("base64");
  return (headers["webhook-signature"] ?? "").split(" ").some((given) => equal(given, `v1,${signature}`));
}

const equal = (left, right) =>
  left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks).toString();
    const isGenuine = isFromNode(request.headers) && isSigned(request.headers, body);
    response.writeHead(isGenuine ? 204 : 401).end();
    if (!isGenuine) return console.log("refused: not from our node");
    const { event, height, data } = JSON.parse(body);
    console.log(
      `verified ${request.headers["webhook-id"]}: ${event} at height ${height}`,
      JSON.stringify(data),
    );
  });
});
server.listen(Number(port), "127.0.0.1", () =>
  console.log(`listening on http://127.0.0.1:${server.address().port}`),
);
