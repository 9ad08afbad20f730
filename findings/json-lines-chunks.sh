#!/usr/bin/env bash
# Readers of JSON lines (NDJSON), wherever the network cuts the bytes
#
# One would guess: a reader gives each line once, as a parsed value, however its bytes arrive: joining chunks is its purpose.
# What happens: json-stream 1.0.0 gives an object twice if a chunk ends after its last brace and the end of the line comes with the next chunk.
# jsonlines 0.1.1 and ldjson-stream 1.2.1 decode each chunk for itself: a character of several bytes that is cut becomes
# two or three replacement characters inside the value. Eight others are right, with both ends of lines, and without one after the last line.
# Whom it hurts: readers of exports and streams of events: a payment is booked twice, or a name and a hash of its text are damaged, now and
# then, under load only. Recognise events by their ids; choose a reader that you have tested byte by byte, as below.
# Versions: see below; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts json-stream@1.0.0 jsonlines@0.1.1 ldjson-stream@1.2.1 ndjson@2.0.0 split2@4.2.0 \
  @jsonlines/core@1.0.2 it-ndjson@2.0.0 iterable-ndjson@1.1.0 ndjson-readablestream@1.4.0 can-ndjson-stream@1.0.2 fetch-ndjson@1.2.0
cat > finding.mjs <<'JS'
import { createRequire } from "node:module";
import { PassThrough, Readable } from "node:stream";
import { parse as itNdjson } from "it-ndjson";

const load = createRequire(import.meta.url);
const defaultOf = (loaded) => loaded.default ?? loaded;
const JsonStream = load("json-stream");
const fetchNdjson = defaultOf(defaultOf(await import("fetch-ndjson")));

const bodyOf = (chunks) => Readable.toWeb(Readable.from(chunks, { objectMode: false }));
/** The second stream makes old ones iterable. */
const through = (create) => (chunks) =>
  Readable.from(chunks, { objectMode: false }).pipe(create()).pipe(new PassThrough({ objectMode: true }));
async function* each(chunks) {
  yield* chunks;
}
async function* readAll(reader) {
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}
/** Each returns an iterable of values. */
const READERS = {
  "json-stream 1.0.0": through(() => new JsonStream()),
  "jsonlines 0.1.1": through(() => load("jsonlines").parse()),
  "ldjson-stream 1.2.1": through(() => load("ldjson-stream").parse()),
  "ndjson 2.0.0": through(() => load("ndjson").parse()),
  "split2 4.2.0": through(() => load("split2")(JSON.parse)),
  "@jsonlines/core 1.0.2": through(() => load("@jsonlines/core").parse()),
  "it-ndjson 2.0.0": (chunks) => itNdjson(each(chunks)),
  "iterable-ndjson 1.1.0": (chunks) => (load("iterable-ndjson").parse ?? load("iterable-ndjson"))(each(chunks)),
  "ndjson-readablestream 1.4.0": (chunks) => defaultOf(load("ndjson-readablestream"))(bodyOf(chunks)),
  "can-ndjson-stream 1.0.2": (chunks) => readAll(defaultOf(load("can-ndjson-stream"))(bodyOf(chunks)).getReader()),
  "fetch-ndjson 1.2.0": (chunks) => fetchNdjson(bodyOf(chunks).getReader()),
};

const values = [{ id: 1, text: "tea ☕" }, { id: 2, text: "œuvre" }, { id: 3, text: "last" }];
const right = JSON.stringify(values);
const texts = ["\n", "\r\n"].flatMap((end) => [values.map((value) => JSON.stringify(value) + end).join(""), values.map((value) => JSON.stringify(value)).join(end)]);

console.log(`Node.js ${process.version}; ${texts.length} texts, cut in two at each byte`);
const seen = {};
for (const [name, read] of Object.entries(READERS)) {
  const kinds = { repeated: 0, damaged: 0 };
  let cuts = 0;
  for (const bytes of texts.map((text) => Buffer.from(text))) {
    for (let at = 1; at < bytes.length; at++) {
      const received = [];
      for await (const value of read([bytes.subarray(0, at), bytes.subarray(at)])) received.push(value);
      cuts++;
      if (JSON.stringify(received) === right) continue;
      kinds[received.length > values.length ? "repeated" : "damaged"]++;
    }
  }
  seen[name] = kinds;
  console.log(`${name.padEnd(30)}an object twice: ${kinds.repeated}, damaged: ${kinds.damaged}, of ${cuts} cuts`);
}
const expected = {
  "json-stream 1.0.0": ({ repeated, damaged }) => repeated > 0 && damaged === 0,
  "jsonlines 0.1.1": ({ repeated, damaged }) => repeated === 0 && damaged > 0,
  "ldjson-stream 1.2.1": ({ repeated, damaged }) => repeated === 0 && damaged > 0,
};
const isExact = ({ repeated, damaged }) => repeated + damaged === 0;
if (!Object.entries(seen).every(([name, kinds]) => (expected[name] ?? isExact)(kinds))) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
node finding.mjs
