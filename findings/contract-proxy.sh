#!/usr/bin/env bash
# Prism as a proxy between a client and an API, and what reaches both of them
#
# One would guess: a proxy that checks requests and responses against an OpenAPI document reports violations and passes the bytes on. An
# int64 may have 64 bits. An event stream is passed on event by event.
# What happens: `prism proxy` 5 parses JSON and prints it again, in both directions: 9007199254740993 becomes 9007199254740992, 1.10
# becomes 1.1, spaces go. It demands at most 9007199254740991 for `format: int64` although the document sets no maximum, and reports the
# violation about valid amounts. Events of a text/event-stream arrive when the stream has ended, all at once, with a content-length.
# Whom it hurts: tests of a contract and staging systems that put Prism before a real API: amounts change on the way to the server,
# signatures over the body (webhooks, HMAC) no longer match, and followers of an endless stream get nothing.
# Versions: @stoplight/prism-cli 5.16.0; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts @stoplight/prism-cli@5.16.0
cat > api.json <<'JSON'
{
  "openapi": "3.0.3",
  "info": { "title": "Transfers", "version": "1" },
  "paths": {
    "/transfers": {
      "post": {
        "requestBody": { "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Transfer" } } } },
        "responses": {
          "200": { "description": "ok", "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Transfer" } } } }
        }
      }
    },
    "/events": {
      "get": { "responses": { "200": { "description": "ok", "content": { "text/event-stream": { "schema": { "type": "string" } } } } } }
    }
  },
  "components": {
    "schemas": {
      "Transfer": {
        "type": "object",
        "properties": { "amount": { "type": "integer", "format": "int64" }, "rate": { "type": "number" } }
      }
    }
  }
}
JSON
cat > finding.mjs <<'JS'
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const BODY = '{"amount": 9007199254740993, "rate": 1.10}';
const bodies = [];
const server = createServer(async (request, response) => {
  if (request.url === "/events") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let id = 1; id <= 4; id++) {
      response.write(`id: ${id}\ndata: x\n\n`);
      await sleep(500);
    }
    return response.end();
  }
  let body = "";
  for await (const bytes of request) body += bytes;
  bodies.push(body);
  response.writeHead(200, { "content-type": "application/json" });
  response.end(BODY);
});
const listen = (subject) => new Promise((resolve) => subject.listen(0, "127.0.0.1", () => resolve(subject.address().port)));
const upstream = `http://127.0.0.1:${await listen(server)}`;
const probe = createServer();
const port = await listen(probe);
await new Promise((resolve) => probe.close(resolve));

const prism = spawn("node_modules/.bin/prism", ["proxy", "api.json", upstream, "--host", "127.0.0.1", "--port", String(port)]);
let log = "";
for (const stream of [prism.stdout, prism.stderr]) stream.on("data", (bytes) => (log += bytes));
for (let waited = 0; !log.includes("is listening") && waited < 60; waited++) await sleep(500);

async function call(url) {
  const response = await fetch(`${url}/transfers`, { method: "POST", headers: { "content-type": "application/json" }, body: BODY });
  return response.text();
}

/** Number of reads that it takes to get the four events. */
async function reads(url) {
  const response = await fetch(`${url}/events`);
  let chunks = 0;
  for await (const _ of response.body) chunks++;
  return `${chunks > 1 ? "several reads" : "one read"}, content-length ${response.headers.get("content-length") ?? "none"}`;
}

const rows = [];
for (const [name, url] of [["direct", upstream], ["Prism", `http://127.0.0.1:${port}`]]) {
  const received = await call(url);
  rows.push(`${name}: server got ${bodies.at(-1)}`, `${name}: client got ${received}`, `${name}: four events in ${await reads(url)}`);
}
prism.kill();
server.closeAllConnections();
server.close();
const violations = [...new Set(log.match(/(Request|Response) body property amount must be <= \d+/g))];
const seen = [...rows, ...violations].join("\n");
console.log(`Node.js ${process.version}\n${seen}`);
const expected = `direct: server got ${BODY}
direct: client got ${BODY}
direct: four events in several reads, content-length none
Prism: server got {"amount":9007199254740992,"rate":1.1}
Prism: client got {"amount":9007199254740992,"rate":1.1}
Prism: four events in one read, content-length 60
Request body property amount must be <= 9007199254740991
Response body property amount must be <= 9007199254740991`;
if (seen !== expected) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
npm ls --depth=0 | tail -n +2
node finding.mjs
