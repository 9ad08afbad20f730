#!/usr/bin/env bash
# Options of JetStream that are newer than the server, and the JavaScript client of NATS
#
# One would guess: the client knows the version of the server and refuses options that the server lacks, as it does for `compression`,
# `first_seq`, `metadata` and `filter_subjects`, which came with 2.10.
# What happens: @nats-io/jetstream 3.4.0 and @nats-io/kv 3.4.0 check the options of 2.10, but not all later ones. A server 2.9.10 accepts
# `allow_msg_ttl`, `subject_delete_marker_ttl`, `allow_atomic`, `allow_msg_counter`, `allow_msg_schedules` of a stream and `pause_until`
# of a consumer, and drops them: they are missing in the response only. A message that is published with `ttl: "1s"`, and a key that is
# created with a time to live, are acknowledged and stay. A paused consumer delivers. Only `priority_groups` is refused.
# Whom it hurts: services that run on the server of a stable distribution (Debian 12 has 2.9.10) and let messages or locks expire: they
# never do, and nothing fails. Compare the returned `config` with the requested one.
# Versions: nats-server of the machine, client 3.4.0; found on 2026-11-28 with nats-server 2.9.10 and Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
nats=
trap '[ -z "$nats" ] || kill "$nats"; rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts \
  @nats-io/transport-node@3.4.0 @nats-io/jetstream@3.4.0 @nats-io/kv@3.4.0
nats-server --version
nats-server --jetstream --store_dir "$folder/data" --addr 127.0.0.1 --port -1 --ports_file_dir "$folder" > nats.log 2>&1 &
nats=$!
until compgen -G "$folder/*.ports" > /dev/null; do sleep 0.1; done
cat > finding.mjs <<'JS'
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { AckPolicy, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { connect } from "@nats-io/transport-node";

const [file] = readdirSync(".").filter((name) => name.endsWith(".ports"));
const connection = await connect({ servers: JSON.parse(readFileSync(file, "utf8")).nats[0] });
const manager = await jetstreamManager(connection);
const client = jetstream(connection);
const kvm = new Kvm(connection);
await manager.streams.add({ name: "PLAIN", subjects: ["plain"] });
await client.publish("plain", "x");

async function outcome(names, create) {
  try {
    const { config } = await create();
    return names.every((name) => config[name] === undefined) ? "accepted and dropped" : "accepted";
  } catch {
    return "refused by the client";
  }
}

let streams = 0;
const stream = (options) =>
  outcome(Object.keys(options), () => manager.streams.add({ name: `S${++streams}`, subjects: [`s${streams}`], ...options }));
const consumer = (options) =>
  outcome(Object.keys(options), () =>
    manager.consumers.add("PLAIN", { durable_name: `c${Object.keys(options)[0]}`, ack_policy: AckPolicy.Explicit, ...options }),
  );

async function expiringMessage() {
  await manager.streams.add({ name: "EXPIRING", subjects: ["expiring"], allow_msg_ttl: true });
  await client.publish("expiring", "x", { ttl: "1s" });
  await sleep(3_000);
  return (await manager.streams.info("EXPIRING")).state.messages === 1 ? "kept" : "expired";
}

async function expiringKey() {
  const bucket = await kvm.create("locks", { markerTTL: 1_000 });
  await bucket.create("lock", "x", "1s");
  await sleep(3_000);
  return (await bucket.get("lock"))?.string() === "x" ? "kept" : "expired";
}

async function pausedConsumer() {
  const until = new Date(Date.now() + 3_600_000).toISOString();
  await manager.consumers.add("PLAIN", { durable_name: "paused", ack_policy: AckPolicy.Explicit, pause_until: until });
  const message = await (await client.consumers.get("PLAIN", "paused")).next({ expires: 2_000 });
  return message ? "delivers" : "paused";
}

const seen = {
  "stream compression": await stream({ compression: "s2" }),
  "stream first_seq": await stream({ first_seq: 100 }),
  "stream metadata": await stream({ metadata: { owner: "x" } }),
  "consumer filter_subjects": await consumer({ filter_subjects: ["plain"] }),
  "consumer priority_groups": await consumer({ priority_groups: ["a"], priority_policy: "overflow" }),
  "stream allow_msg_ttl": await stream({ allow_msg_ttl: true }),
  "stream subject_delete_marker_ttl": await stream({ subject_delete_marker_ttl: 1e9 }),
  "stream allow_atomic": await stream({ allow_atomic: true }),
  "stream allow_msg_counter": await stream({ allow_msg_counter: true }),
  "stream allow_msg_schedules": await stream({ allow_msg_schedules: true }),
  "consumer pause_until": await consumer({ pause_until: new Date(Date.now() + 3_600_000).toISOString() }),
  "message with a ttl of 1 s, after 3 s": await expiringMessage(),
  "key with a ttl of 1 s, after 3 s": await expiringKey(),
  "consumer, paused for an hour": await pausedConsumer(),
};
await connection.close();
console.log(`Node.js ${process.version}`);
for (const [name, value] of Object.entries(seen)) console.log(`${name.padEnd(40)}${value}`);
const REFUSED = "refused by the client";
const DROPPED = "accepted and dropped";
const expected = [REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, DROPPED, DROPPED, DROPPED, DROPPED, DROPPED, DROPPED, "kept", "kept", "delivers"];
if (JSON.stringify(Object.values(seen)) !== JSON.stringify(expected)) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
node finding.mjs
