#!/usr/bin/env bash
# Calls at the same time, and failures, with the TypeScript client of Mainsail
#
# One would guess: with separate hosts for the API and for transactions, each call goes to its host, also when it is repeated. A response
# 503 of a proxy is an `ArkHTTPException` with the response, as 404 is, and a transaction is sent once.
# What happens: in @arkecosystem/typescript-client 0.0.9 all resources share one current host. If the connection of a call breaks and
# another call for the other host began in the meantime, the repeated call goes to that host: a wallet is asked for at the host of
# transactions, and transactions are posted to the API. A broken connection is repeated twice at once, also for a POST that the server
# has read. A 503 with an HTML page is a SyntaxError without status.
# Whom it hurts: wallets and exchanges that read and send in parallel: after a short failure they get the response of the wrong server.
# Servers see the same transactions three times. Create one client for each host.
# Versions: @arkecosystem/typescript-client 0.0.9; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts @arkecosystem/typescript-client@0.0.9
cat > finding.mjs <<'JS'
import { createServer } from "node:http";
import { ArkClient } from "@arkecosystem/typescript-client";

const requests = [];
/** Breaks the connection of the first requests, after it has read them; then responds with 200. */
async function serve(name, broken) {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      requests.push(`${request.method} ${request.url} at ${name}`);
      if (broken-- > 0) return setTimeout(() => response.destroy(), 200);
      response.setHeader("content-type", "application/json");
      response.end('{"data":{}}');
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${server.address().port}` };
}

/** Runs calls against an API and a host of transactions; returns the requests in their order of arrival. */
async function run(brokenByApi, brokenByTransactions, call) {
  requests.length = 0;
  const api = await serve("the API", brokenByApi);
  const transactions = await serve("transactions", brokenByTransactions);
  await call(new ArkClient({ api: api.url, transactions: transactions.url })).catch(() => {});
  for (const { server } of [api, transactions]) {
    server.closeAllConnections();
    server.close();
  }
  return requests.join(", ");
}

async function failure(status, type, body) {
  const server = createServer((_, response) => response.writeHead(status, { "content-type": type }).end(body));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await new ArkClient(`http://127.0.0.1:${server.address().port}`).wallets().get("x");
  } catch (error) {
    return `${error.constructor.name}, status ${error.response?.status ?? "unknown"}`;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const seen = {
  "one after the other": await run(0, 0, async (client) => {
    await client.wallets().get("x");
    await client.transactions().create(["00"]);
  }),
  "GET breaks, POST in the meantime": await run(1, 0, (client) =>
    Promise.all([client.wallets().get("x"), client.transactions().create(["00"])]),
  ),
  "POST breaks, GET in the meantime": await run(0, 1, (client) =>
    Promise.all([client.transactions().create(["00"]), client.wallets().get("x")]),
  ),
  "POST breaks": await run(0, 3, (client) => client.transactions().create(["00"])),
  "404 with JSON": await failure(404, "application/json", '{"error":"Not Found"}'),
  "503 with HTML": await failure(503, "text/html", "<h1>Service Unavailable</h1>"),
};
console.log(`Node.js ${process.version}`);
for (const [name, text] of Object.entries(seen)) console.log(`${name.padEnd(34)}${text}`);
const POST = "POST /transactions at transactions";
const moved = { get: "GET /wallets/x at transactions", post: "POST /transactions at the API" };
const isAsFound =
  seen["one after the other"] === `GET /wallets/x at the API, ${POST}` &&
  seen["GET breaks, POST in the meantime"].endsWith(moved.get) &&
  seen["POST breaks, GET in the meantime"].endsWith(moved.post) &&
  seen["POST breaks"] === [POST, POST, POST].join(", ") &&
  seen["404 with JSON"] === "ArkHTTPException, status 404" &&
  seen["503 with HTML"] === "SyntaxError, status unknown";
if (!isAsFound) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
npm ls --depth=0 | tail -n +2
node finding.mjs
