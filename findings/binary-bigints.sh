#!/usr/bin/env bash
# Writing bigints and fractions with small packages for CBOR and MessagePack
#
# One would guess: a package that does not know bigint throws for one, as `JSON.stringify` does; one that knows it writes its value. A number
# such as 0.1 is written as a float, or refused.
# What happens: cbor-js 0.1.0 writes each bigint as an empty map. @ellipticoin/cbor 1.0.4 writes bigints below -2^53 cut, so that they are
# read as 0 there, and as an unfinished message elsewhere. @iljucha/cbor 1.0.10 writes a bigint as a text with the tag of a date. @dfinity/cbor 0.2.3
# writes 0.1 as 0. a-msgpack 4.13.0 writes bigints above 2^53 rounded, as floats, although it reads them exactly.
# cbor, cborg, cbor2, tiny-msgpack and algo-msgpack-with-bigint write the values; msgpack-lite, msgpack5 and borc throw.
# Whom it hurts: programs that send amounts in these formats, or sign and store their bytes: the amount is gone, and no side fails. Test
# one amount above 2^53 from end to end before you choose a package.
# Versions: see below; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts cbor-js@0.1.0 @ellipticoin/cbor@1.0.4 @iljucha/cbor@1.0.10 @dfinity/cbor@0.2.3 \
  a-msgpack@4.13.0 cbor@10.0.12 cborg@6.1.5 cbor2@2.3.0 borc@3.0.0 tiny-msgpack@2.2.0 algo-msgpack-with-bigint@2.1.1 msgpack-lite@0.2.2 msgpack5@6.1.0
cat > finding.mjs <<'JS'
import { createRequire } from "node:module";

const load = createRequire(import.meta.url);
const anyOf = async (name) => {
  const loaded = await import(name);
  return loaded.encode ? loaded : (loaded.default ?? loaded);
};
/** Readers of both formats that are exact. */
const cbor = load("cbor").decodeFirstSync;
const messagePack = load("algo-msgpack-with-bigint").decode;
const msgpack5 = load("msgpack5")();
/** How each package writes, and who reads. */
const PACKAGES = {
  "cbor-js 0.1.0": [load("cbor-js").encode, cbor],
  "@ellipticoin/cbor 1.0.4": [(await anyOf("@ellipticoin/cbor")).encode, cbor],
  "@iljucha/cbor 1.0.10": [(await anyOf("@iljucha/cbor")).encode, cbor],
  "@dfinity/cbor 0.2.3": [(await anyOf("@dfinity/cbor")).encode, cbor],
  "a-msgpack 4.13.0": [(await anyOf("a-msgpack")).encode, messagePack],
  "cbor 10.0.12": [load("cbor").encode, cbor],
  "cborg 6.1.5": [(await anyOf("cborg")).encode, cbor],
  "cbor2 2.3.0": [(await anyOf("cbor2")).encode, cbor],
  "borc 3.0.0": [load("borc").encode, cbor],
  "tiny-msgpack 2.2.0": [(await anyOf("tiny-msgpack")).encode, messagePack],
  "algo-msgpack-with-bigint 2.1.1": [load("algo-msgpack-with-bigint").encode, messagePack],
  "msgpack-lite 0.2.2": [load("msgpack-lite").encode, messagePack],
  "msgpack5 6.1.0": [(value) => msgpack5.encode(value).slice(), messagePack],
};
const VALUES = [5n, 2n ** 53n + 1n, -(2n ** 53n) - 3n, 0.1];

/** "=" if another package reads the same value, "!" if it is refused, or what is read. */
function written([encode, decode], value) {
  let bytes;
  try {
    bytes = Buffer.from(encode(value));
  } catch {
    return "!";
  }
  try {
    const read = decode(bytes);
    // A small bigint may be read as a number.
    if (read === value || (typeof value === "bigint" && typeof read !== "object" && read === Number(value) && BigInt(read) === value)) return "=";
    if (read instanceof Date) return "a date";
    return typeof read === "object" ? JSON.stringify(read) : `${read}`;
  } catch {
    return `unreadable ${bytes.toString("hex")}`;
  }
}

console.log(`Node.js ${process.version}; "=": another package reads the value, "!": refused`);
const seen = {};
for (const [name, pair] of Object.entries(PACKAGES)) {
  seen[name] = VALUES.map((value) => written(pair, value));
  console.log(`${name.padEnd(32)}${VALUES.map((value, index) => `${value}${typeof value === "bigint" ? "n" : ""} ${seen[name][index]}`).join("  ")}`);
}
const [exact, refused] = [["=", "=", "=", "="], ["!", "!", "!", "="]];
const expected = {
  "cbor-js 0.1.0": ["{}", "{}", "{}", "="],
  "@ellipticoin/cbor 1.0.4": ["=", "=", "unreadable 1b", "="],
  "@iljucha/cbor 1.0.10": ["a date", "a date", "a date", "="],
  "@dfinity/cbor 0.2.3": ["=", "=", "=", "0"],
  "a-msgpack 4.13.0": ["=", "9007199254740992", "=", "="],
  "borc 3.0.0": refused,
  "msgpack-lite 0.2.2": refused,
  "msgpack5 6.1.0": refused,
};
if (Object.entries(seen).some(([name, row]) => String(row) !== String(expected[name] ?? exact))) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
node finding.mjs
