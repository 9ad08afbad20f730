#!/usr/bin/env bash
# Database keys of large integers, made with packages that keep the order of numbers
#
# One would guess: a package that packs integers into bytes whose order is that of the numbers gives each safe integer (up to 2^53) bytes of
# its own, and gives the number back. Otherwise it throws.
# What happens: lexicographic-integer 1.1.0, which is also inside lexicographic-integer-encoding for LevelDB, packs neighbours into the
# same bytes from 17,592,186,044,668 on, just above 2^44. Near 2^53 almost all neighbours collide,
# and each number comes back as another one: 9,007,199,254,740,991 as 9,007,199,254,740,731. Nothing throws, and the order is kept.
# bytewise, charwise, fdb-tuple and ordered-binary are exact.
# Whom it hurts: indexes by amount or by time in microseconds: a record replaces another one with a close key. 2^44 smallest units of 8
# decimals are 175,921 tokens; heights and seconds are too small to be hit. Another package, or a text of fixed length, is exact.
# Versions: see below; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts lexicographic-integer@1.1.0 lexicographic-integer-encoding@1.0.1 \
  bytewise@1.1.0 charwise@3.0.1 fdb-tuple@1.0.0 ordered-binary@1.6.3
cat > finding.mjs <<'JS'
import { createRequire } from "node:module";
import { fromBufferKey, toBufferKey } from "ordered-binary";

const load = createRequire(import.meta.url);
const integers = load("lexicographic-integer");
const encoding = load("lexicographic-integer-encoding")("hex");
const bytewise = load("bytewise");
const charwise = load("charwise");
const tuple = load("fdb-tuple");

/** Each packs a number into a text or bytes, and reads it back. */
const PACKAGES = {
  "lexicographic-integer 1.1.0": [(number) => integers.pack(number, "hex"), integers.unpack],
  "lexicographic-integer-encoding 1.0.1": [encoding.encode, encoding.decode],
  "bytewise 1.1.0": [bytewise.encode, bytewise.decode],
  "charwise 3.0.1": [charwise.encode, charwise.decode],
  "fdb-tuple 1.0.0": [tuple.pack, (key) => tuple.unpack(key)[0]],
  "ordered-binary 1.6.3": [toBufferKey, fromBufferKey],
};
const textOf = (key) => (typeof key === "string" ? key : Buffer.from(key).toString("hex"));

console.log(`Node.js ${process.version}; of 1,000 neighbours below each limit, how many share their key, and how many come back changed`);
const seen = {};
for (const [name, [pack, unpack]] of Object.entries(PACKAGES)) {
  const row = [40, 43, 45, 48, 53].map((bits) => {
    const numbers = Array.from({ length: 1_000 }, (_, index) => 2 ** bits - 1_000 + index);
    const keys = numbers.map(pack);
    const ordered = keys.map(textOf).every((key, index, all) => index === 0 || all[index - 1] <= key);
    return { bits, ordered, shared: 1_000 - new Set(keys.map(textOf)).size, changed: numbers.filter((number, index) => unpack(keys[index]) !== number).length };
  });
  seen[name] = row;
  const text = row.map(({ bits, shared, changed, ordered }) => `2^${bits}: ${shared}, ${changed}${ordered ? "" : " UNORDERED"}`);
  console.log(`${name.padEnd(38)}${text.join("; ")}`);
}
const largest = Number.MAX_SAFE_INTEGER;
console.log(`lexicographic-integer: ${largest} comes back as ${integers.unpack(integers.pack(largest, "hex"))}`);
const isFlawed = (rows) =>
  rows.every(({ bits, ordered, shared, changed }) => ordered && (bits < 44 ? shared + changed === 0 : shared > 0 && changed > 0));
const isExact = (rows) => rows.every(({ ordered, shared, changed }) => ordered && shared + changed === 0);
if (Object.entries(seen).some(([name, rows]) => !(name.startsWith("lexicographic") ? isFlawed : isExact)(rows))) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
node finding.mjs
