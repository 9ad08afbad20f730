#!/usr/bin/env bash
# A stream of NATS that copies two other streams, in which two different messages have the same id
#
# One would guess: the server drops a message whose id (`Nats-Msg-Id`) its own stream has seen. A stream that copies others (`sources`) has
# each of their messages: its publishers were acknowledged without "duplicate", and a copy is complete.
# What happens: the copying stream applies its own window of duplicates to what it copies. The message of the second source is missing there,
# although it has another subject and content, and both origins have theirs. The server reports a lag of 0 for each source, and
# nobody is told. A mirror of one stream is complete. With a window of 100 ms in the copying stream, a message that arrives later is copied.
# Whom it hurts: who merges streams of several networks, tenants or services whose ids are counters, heights or names that are unique in
# one stream only: payments are missing in the merged stream. Put the name of the origin into each id.
# Versions: nats-server of the machine, @nats-io/jetstream 3.4.0; found on 2026-11-28 with nats-server 2.9.10, Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
nats=
trap '[ -z "$nats" ] || kill "$nats"; rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts @nats-io/jetstream@3.4.0 @nats-io/transport-node@3.4.0
nats-server --version
nats-server --jetstream --store_dir "$folder/data" --addr 127.0.0.1 --port -1 --ports_file_dir "$folder" > nats.log 2>&1 &
nats=$!
until compgen -G "$folder/*.ports" > /dev/null; do sleep 0.1; done
cat > finding.mjs <<'JS'
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

const [file] = readdirSync(".").filter((name) => name.endsWith(".ports"));
const client = await connect({ servers: JSON.parse(readFileSync(file, "utf8")).nats[0] });
const streams = (await jetstreamManager(client)).streams;
const js = jetstream(client);

await streams.add({ name: "first", subjects: ["first.>"] });
await streams.add({ name: "second", subjects: ["second.>"] });
const sources = [{ name: "first" }, { name: "second" }];
await streams.add({ name: "merged", sources });
await streams.add({ name: "merged-briefly", sources, duplicate_window: 100_000_000 });
await streams.add({ name: "mirror", mirror: { name: "second" } });

let published = 0;
const publish = async (subject, msgID) => {
  const { stream, seq, duplicate } = await js.publish(subject, subject, { msgID });
  console.log(`published to ${subject} with the id ${msgID}: ${stream} ${seq}${duplicate ? ", duplicate" : ""}`);
  published++;
  while ((await streams.info("merged-briefly")).state.messages < published) await sleep(50);
  await sleep(300);
  return !duplicate;
};
console.log(`Node.js ${process.version}`);
const isAccepted = [await publish("first.payment", "payment-1"), await publish("second.payment", "payment-1"), await publish("second.payment", "payment-2")];

async function subjectsOf(name, count) {
  for (let attempt = 0; attempt < 20 && (await streams.info(name)).state.messages < count; attempt++) await sleep(100);
  const { messages, last_seq: last } = (await streams.info(name)).state;
  const found = [];
  for (let seq = 1; seq <= last; seq++) found.push((await streams.getMessage(name, { seq })).header.get("Nats-Msg-Id"));
  console.log(`${name}: ${messages} messages, ids ${found.join(", ")}`);
  return found.length;
}
const counts = {};
for (const [name, count] of Object.entries({ first: 1, second: 2, mirror: 2, merged: 3, "merged-briefly": 3 })) counts[name] = await subjectsOf(name, count);
const lags = (await streams.info("merged")).sources.map(({ name, lag }) => `${name} ${lag}`);
console.log(`lag of the sources of merged: ${lags.join(", ")}`);
await client.close();
const seen = JSON.stringify([isAccepted, counts, lags]);
const expected = JSON.stringify([[true, true, true], { first: 1, second: 2, mirror: 2, merged: 2, "merged-briefly": 3 }, ["first 0", "second 0"]]);
if (seen !== expected) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
npm ls --depth=0 | tail -n +2
node finding.mjs
