#!/usr/bin/env bash
# A bigint in a message of SocketCluster
#
# One would guess: `transmit`, `invoke` and `invokePublish` throw or reject with the TypeError of `JSON.stringify`, which cannot write bigints.
# What happens: nothing is sent. `transmit` resolves; `invoke` and `invokePublish` reject with a TimeoutError after `ackTimeout` (10 s), as if
# the server were slow; the TypeError goes to listeners of "error" only. While the client batches (`startBatching`, `pubSubBatchDuration`),
# one bigint discards the whole batch: messages before and after it, of other callers too, whose calls time out as well.
# Whom it hurts: programs that go from numbers to bigint for amounts: payments that were reported as sent never leave, and a retry after the
# timeout fails again. Convert amounts to texts, and treat "error" of the client as a lost message.
# Versions: socketcluster-client 20.0.2, socketcluster-server 20.0.1; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts socketcluster-client@20.0.2 socketcluster-server@20.0.1
cat > finding.mjs <<'JS'
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";

const load = createRequire(import.meta.url);
const http = createServer();
const server = load("socketcluster-server").attach(http);
const received = [];
(async () => {
  for await (const { socket } of server.listener("connection")) {
    (async () => {
      for await (const data of socket.receiver("note")) received.push(`note ${data.amount}`);
    })();
    (async () => {
      for await (const request of socket.procedure("pay")) {
        received.push(`payment ${request.data.amount}`);
        request.end();
      }
    })();
  }
})();
await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));

const client = load("socketcluster-client").create({ hostname: "127.0.0.1", port: http.address().port, ackTimeout: 2_000 });
let errors = 0;
(async () => {
  for await (const _ of client.listener("error")) errors++;
})();
await client.listener("connect").once();
const outcome = (promise) =>
  promise.then(
    () => "resolves",
    ({ name }) => `rejects with ${name}`,
  );

const seen = {
  "invoke of 1": await outcome(client.invoke("pay", { amount: 1 })),
  "transmit of 2n": await outcome(client.transmit("note", { amount: 2n })),
  "invoke of 3n": await outcome(client.invoke("pay", { amount: 3n })),
  "invokePublish of 4n": await outcome(client.invokePublish("payments", { amount: 4n })),
};
client.startBatching();
const batched = [outcome(client.transmit("note", { amount: 5 })), outcome(client.invoke("pay", { amount: 6 })), outcome(client.transmit("note", { amount: 7n }))];
client.stopBatching();
const [first, second, third] = await Promise.all(batched);
Object.assign(seen, { "batch: transmit of 5": first, "batch: invoke of 6": second, "batch: transmit of 7n": third });
await client.invoke("pay", { amount: 8 });
await sleep(500);
console.log(`Node.js ${process.version}`);
for (const [name, text] of Object.entries(seen)) console.log(`${name.padEnd(24)}${text}`);
console.log(`the server received: ${received.join(", ")}\nevents "error" of the client: ${errors}; it is ${client.state}`);
const expected = ["resolves", "resolves", "rejects with TimeoutError", "rejects with TimeoutError", "resolves", "rejects with TimeoutError", "resolves"];
if (JSON.stringify(Object.values(seen)) !== JSON.stringify(expected) || received.join() !== "payment 1,payment 8" || errors !== 4) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
process.exit();
JS
npm ls --depth=0 | tail -n +2
node finding.mjs
