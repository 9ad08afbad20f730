#!/usr/bin/env bash
# Negative integers near 2^53 as variable-length integers
#
# One would guess: a package for integers of JavaScript is exact up to 2^53, or throws above its limit, as its base package `varint` does.
# What happens: signed-varint 2.0.1 doubles a number before it writes it. From 4,503,599,627,370,497 (2^52 + 1) on, a negative number comes
# back positive, and off by one if it is odd; positive numbers come back right. Nothing throws. @thi.ng/leb128, leb128, bytebuffer and int64-buffer
# are exact for both signs.
# Whom it hurts: logs and protocols with differences of balances: a debit of more than 45 million tokens of 8 decimals is read as a credit.
# Versions: see below; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts signed-varint@2.0.1 @thi.ng/leb128@3.1.93 leb128@0.0.5 bytebuffer@5.0.1 int64-buffer@1.1.2
cat > finding.mjs <<'JS'
import { createRequire } from "node:module";
import { decodeSLEB128, encodeSLEB128 } from "@thi.ng/leb128";

const load = createRequire(import.meta.url);
const signed = load("signed-varint");
const leb128 = load("leb128").signed;
const ByteBuffer = load("bytebuffer");
const { Int64BE } = load("int64-buffer");
/** Each writes a number, and reads it back. */
const PACKAGES = {
  "signed-varint 2.0.1": (number) => signed.decode(signed.encode(number)),
  "@thi.ng/leb128 3.1.93": (number) => Number(decodeSLEB128(encodeSLEB128(number))[0]),
  "leb128 0.0.5": (number) => Number(leb128.decode(leb128.encode(number))),
  "bytebuffer 5.0.1": (number) => new ByteBuffer(10).writeVarint64ZigZag(number).flip().readVarint64ZigZag().toNumber(),
  "int64-buffer 1.1.2": (number) => new Int64BE(new Int64BE(number).toBuffer()).toNumber(),
};
const NUMBERS = [-5, 2 ** 52, -(2 ** 52), 2 ** 52 + 1, -(2 ** 52) - 1, -(2 ** 52) - 2, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER];

console.log(`Node.js ${process.version}`);
const wrong = {};
for (const [name, repeat] of Object.entries(PACKAGES)) {
  wrong[name] = NUMBERS.filter((number) => repeat(number) !== number).map((number) => `${number} is read as ${repeat(number)}`);
  console.log(`${name.padEnd(24)}${wrong[name].join("; ") || "exact"}`);
}
const expected = [
  "-4503599627370497 is read as 4503599627370496",
  "-4503599627370498 is read as 4503599627370498",
  "-9007199254740991 is read as 9007199254740990",
];
if (Object.entries(wrong).some(([name, lines]) => String(lines) !== (name.startsWith("signed-varint") ? String(expected) : ""))) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
node finding.mjs
