#!/usr/bin/env bash
# Parsers for JSON with big integers, and numbers that are no big integers
#
# One would guess: json-bigint and its forks change only integers that a number cannot hold. Decimals are read as by `JSON.parse`, and
# a parsed integer is printed with its digits.
# What happens: json-bigint takes any number of more than 15 characters for a big one. With `useNativeBigInt` it throws a SyntaxError for
# 0.30000000000000004. Without the option this value is an object, so that `value + 1` is the text "0.300000000000000041"; an integer of
# 16 digits is an object although a number holds it, one of 15 digits is a number; and 10^23 is printed as 1e+23, which is no integer for
# strict readers. The forks of json-bigint, json-with-bigint and lossless-json read decimals as numbers and print all digits.
# Whom it hurts: clients of nodes that read amounts with it: the first response with a rate or a duration of 16 digits throws, arithmetic
# on prices makes texts, and times in microseconds, which have 16 digits, are no numbers.
# Versions: see below; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts json-bigint@1.0.0 json-bigint-native@1.2.0 \
  @cardanosolutions/json-bigint@1.1.0 @apimatic/json-bigint@1.2.0 json-with-bigint@3.5.12 lossless-json@4.3.3
cat > finding.mjs <<'JS'
import apimatic from "@apimatic/json-bigint";
import cardano from "@cardanosolutions/json-bigint";
import jsonBigint from "json-bigint";
import native from "json-bigint-native";
import { JSONParse, JSONStringify } from "json-with-bigint";
import * as lossless from "lossless-json";

const PARSERS = {
  "json-bigint": jsonBigint,
  "json-bigint, useNativeBigInt": jsonBigint({ useNativeBigInt: true }),
  "json-bigint-native": native,
  "@cardanosolutions/json-bigint": cardano,
  "@apimatic/json-bigint": apimatic,
  "json-with-bigint": { parse: JSONParse, stringify: JSONStringify },
  "lossless-json, bigint": {
    parse: (text) => lossless.parse(text, undefined, lossless.parseNumberAndBigInt),
    stringify: lossless.stringify,
  },
};
const NUMBERS = ["0.30000000000000004", "999999999999999", "1790553600123456", "100000000000000000000000"];

function outcome({ parse, stringify }, text) {
  try {
    const [value] = parse(`[${text}]`);
    return `${typeof value} ${stringify([value]).slice(1, -1)}`;
  } catch (error) {
    return error.name;
  }
}

console.log(`Node.js ${process.version}: type and text of each value\n${"".padEnd(32)}${NUMBERS.map((text) => text.padEnd(28)).join("")}`);
const seen = {};
for (const [name, parser] of Object.entries(PARSERS)) {
  seen[name] = NUMBERS.map((text) => outcome(parser, text));
  console.log(`${name.padEnd(32)}${seen[name].map((text) => text.padEnd(28)).join("")}`);
}
console.log(`json-bigint: 0.30000000000000004 + 1 is ${JSON.stringify(jsonBigint.parse("[0.30000000000000004]")[0] + 1)}`);
const number = (text) => `number ${text}`;
const bigint = (text) => `bigint ${text}`;
const [decimal, short, long, large] = NUMBERS;
const expected = {
  "json-bigint": [`object ${decimal}`, number(short), `object ${long}`, "object 1e+23"],
  "json-bigint, useNativeBigInt": ["SyntaxError", number(short), bigint(long), bigint(large)],
  "json-bigint-native": [number(decimal), number(short), bigint(long), bigint(large)],
  "@cardanosolutions/json-bigint": [number(decimal), number(short), bigint(long), bigint(large)],
  "@apimatic/json-bigint": [number(decimal), number(short), number(long), bigint(large)],
  "json-with-bigint": [number(decimal), number(short), number(long), bigint(large)],
  "lossless-json, bigint": [number(decimal), bigint(short), bigint(long), bigint(large)],
};
if (JSON.stringify(seen) !== JSON.stringify(expected)) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
npm ls --depth=0 | tail -n +2
node finding.mjs
