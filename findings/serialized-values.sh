#!/usr/bin/env bash
# Objects with texts, times and small amounts, written by packages that extend or compress JSON, and read again by the same package
#
# One would guess: what such a package writes it reads back as the same value, at least texts and numbers, which JSON has; for types that it
# does not know it throws, or does what JSON does.
# What happens: telejson 8.0.0 reads each text that looks like a time of ISO 8601 as a Date, and the texts "_undefined_" and
# "_symbol_x" as undefined and a symbol. zipson 0.2.12, with its option for the full precision, reads 0.00000005 as 5, and a bigint as {}.
# compress-json 3.4.0 reads a Date as {}. jsonpack 2.0.0 reads 10^21 as another number. devalue, superjson, seroval, next-json and json-complete give all values back.
# Whom it hurts: caches, queues and stores of events: `timestamp.iso` of a block is a Date after the cache, and its hash another one; a fee of
# 5 smallest units becomes one of 5 tokens; a memo that a user chose disappears. Read back what you write, once, with a payment of each kind.
# Versions: see below; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts telejson@8.0.0 zipson@0.2.12 compress-json@3.4.0 jsonpack@2.0.0 \
  devalue@6.0.3 superjson@2.2.7 seroval@1.8.2 next-json@0.5.1 json-complete@2.0.1
cat > finding.mjs <<'JS'
import { createRequire } from "node:module";
import * as devalue from "devalue";
import * as seroval from "seroval";
import superjson from "superjson";
import * as telejson from "telejson";

const load = createRequire(import.meta.url);
const zipson = load("zipson");
const compressJson = load("compress-json");
const jsonpack = load("jsonpack");
const { NJSON } = load("next-json");
const jsonComplete = load("json-complete").default ?? load("json-complete");
/** Each writes a value, and reads it back. */
const PACKAGES = {
  "telejson 8.0.0": (value) => telejson.parse(telejson.stringify(value)),
  "zipson 0.2.12": (value) => zipson.parse(zipson.stringify(value, { fullPrecisionFloats: true })),
  "compress-json 3.4.0": (value) => compressJson.decompress(JSON.parse(JSON.stringify(compressJson.compress(value)))),
  "jsonpack 2.0.0": (value) => jsonpack.unpack(jsonpack.pack(value)),
  "devalue 6.0.3": (value) => devalue.parse(devalue.stringify(value)),
  "superjson 2.2.7": (value) => superjson.parse(superjson.stringify(value)),
  "seroval 1.8.2": (value) => seroval.deserialize(seroval.serialize(value)),
  "next-json 0.5.1": (value) => NJSON.parse(NJSON.stringify(value)),
  "json-complete 2.0.1": (value) => jsonComplete.decode(jsonComplete.encode(value)),
};
const VALUES = {
  "text of a time": "2026-11-28T10:00:00.000Z",
  "text _undefined_": "_undefined_",
  "text _symbol_x": "_symbol_x",
  "0.00000005": 0.00000005,
  "10^21": 1e21,
  bigint: 9_007_199_254_740_993n,
  Date: new Date(1_795_860_000_000),
};
const shown = (value) => (value instanceof Date ? "a Date" : typeof value === "object" ? JSON.stringify(value) : String(value));
const isSame = (a, b) => Object.is(a, b) || (a instanceof Date && b instanceof Date && a.getTime() === b.getTime());

console.log(`Node.js ${process.version}`);
const seen = {};
for (const [name, repeat] of Object.entries(PACKAGES)) {
  seen[name] = Object.entries(VALUES).flatMap(([what, value]) => {
    try {
      const read = repeat({ value }).value;
      return isSame(read, value) ? [] : [`${what}: ${shown(read)}`];
    } catch {
      return [`${what}: throws`];
    }
  });
  console.log(`${name.padEnd(24)}${seen[name].join("; ") || "all as written"}`);
}
const expected = {
  "telejson 8.0.0": ["text of a time: a Date", "text _undefined_: undefined", "text _symbol_x: Symbol(x)"],
  "zipson 0.2.12": ["0.00000005: 5", "10^21: 999999999999999700000", "bigint: {}", "Date: 2026-11-28T10:00:00.000Z"],
  "compress-json 3.4.0": ["bigint: throws", "Date: {}"],
  "jsonpack 2.0.0": ["10^21: 1.0000000000000001e+21", "bigint: throws"],
};
if (Object.entries(seen).some(([name, lines]) => String(lines) !== String(expected[name] ?? []))) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
process.exit();
JS
node finding.mjs
