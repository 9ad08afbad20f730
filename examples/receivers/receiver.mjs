// WEBHOOK_SECRET=whsec_... node receiver.mjs (Node.js 22.13 or newer)
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const { DatabaseSync } = await import("node:sqlite").catch(() => {
  console.error(`Node.js 22.13 or newer is required, but this is ${process.versions.node}.`);
  process.exit(1);
});
const { WEBHOOK_SECRET, DATABASE = "receiver.sqlite", PORT = "8000", CONFORM } = process.env;
const key = Buffer.from(WEBHOOK_SECRET.replace(/^whsec_/, ""), "base64");
const TOLERANCE_SECONDS = 300;
const MAX_BYTES = 1_048_576;

const database = new DatabaseSync(DATABASE);
database.exec(
  "CREATE TABLE IF NOT EXISTS fact (id TEXT PRIMARY KEY, event TEXT, height INTEGER, blockId TEXT, retracted INTEGER)",
);
// A fact that arrives twice, or after its retraction, changes nothing. Put your own changes into the same transaction.
const apply = database.prepare("INSERT INTO fact VALUES (?, ?, ?, ?, 0) ON CONFLICT DO NOTHING");
const retract = database.prepare(
  "INSERT INTO fact (id, retracted) VALUES (?, 1) ON CONFLICT (id) DO UPDATE SET retracted = 1",
);
const facts = database.prepare("SELECT id, event, height, blockId FROM fact WHERE retracted = 0");

function isGenuine(headers, body) {
  const id = headers["webhook-id"] ?? "";
  const timestamp = headers["webhook-timestamp"] ?? "";
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(age <= TOLERANCE_SECONDS)) return false;
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  // While the secret is rotated there are two signatures.
  return (headers["webhook-signature"] ?? "").split(" ").some((signature) => {
    const [version, text = ""] = signature.split(",");
    const given = Buffer.from(text, "base64");
    return version === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

// Returns undefined for a longer body.
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

async function receive(request, response) {
  // The view for `uniknode conform`.
  if (CONFORM && request.method === "GET") return response.end(JSON.stringify({ facts: facts.all() }));
  const body = await readBody(request);
  if (body === undefined) return response.writeHead(413, { connection: "close" }).end();
  if (!isGenuine(request.headers, body)) return response.writeHead(401).end();
  const { id, event, height = null, blockId = null, reverts } = JSON.parse(body);
  if (reverts) retract.run(reverts);
  else apply.run(id, event, height, blockId);
  response.writeHead(204).end();
}

createServer((request, response) => {
  // The sender has closed the connection, or the database has failed: the node sends the delivery again.
  receive(request, response).catch(() => response.destroy());
}).listen(Number(PORT), "127.0.0.1");
