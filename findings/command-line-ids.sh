#!/usr/bin/env bash
# Ids, dates and addresses as values of command-line options, without a declared type
#
# One would guess: readers that make numbers of values do so only if the whole value is a number, and an option declared as a text keeps
# its value.
# What happens: @bomb.sh/args and ultraflag make NaN of every value that begins with a digit: an id in hexadecimal, a date, an IP address,
# also as an argument without a name. With `string` they keep it. cac makes numbers of "0123" and "12e5" (eight hexadecimal digits can be
# such a number), rounds ids of 16 digits, and `type: [String]` makes texts of these numbers: "123", "1200000". yargs-parser keeps "0123"
# and long numbers, and changes "12e5" and "1.10"; minimist, mri, getopts and sade change all four unless the option is a `string`.
# Whom it hurts: command-line programs that take ids of blocks and transactions, amounts, versions, dates or hosts: most values pass a
# trial, and one id of a few hundred is another one. Declare every such option as a text, and with cac read the text from `rawArgs`.
# Versions: see below; found on 2026-11-30 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts @bomb.sh/args@0.3.1 ultraflag@0.2.3 cac@7.1.0 yargs-parser@22.0.0 \
  minimist@1.2.8 mri@1.2.0 getopts@2.3.0
cat > finding.mjs <<'JS'
import { strict as assert } from "node:assert";
import { createRequire } from "node:module";
import { parse as bomb } from "@bomb.sh/args";
import { cac } from "cac";
import { parse as ultraflag } from "ultraflag";

const load = createRequire(import.meta.url);
const [yargs, minimist, mri, getopts] = ["yargs-parser", "minimist", "mri", "getopts"].map(load);
const readCac = (args, config) => {
  const program = cac();
  program.option("--id <id>", "", config);
  return program.parse(["node", "program", ...args]).options.id;
};
const string = { string: ["id"] };
const READERS = {
  "@bomb.sh/args 0.3.1": (args) => bomb(args).id,
  "@bomb.sh/args 0.3.1, string": (args) => bomb(args, string).id,
  "ultraflag 0.2.3": (args) => ultraflag(args).id,
  "ultraflag 0.2.3, string": (args) => ultraflag(args, string).id,
  "cac 7.1.0": (args) => readCac(args),
  "cac 7.1.0, type: [String]": (args) => readCac(args, { type: [String] })[0],
  "yargs-parser 22.0.0": (args) => yargs(args).id,
  "minimist 1.2.8": (args) => minimist(args).id,
  "minimist 1.2.8, string": (args) => minimist(args, string).id,
  "mri 1.2.0": (args) => mri(args).id,
  "getopts 2.3.0": (args) => getopts(args).id,
};
const TEXTS = ["12ab34cd", "2026-11-30", "10.0.0.1", "0123", "12e5", "9007199254740993", "1.10"];
const NUMBERS = [123, 1200000, 9007199254740992, 1.1];
const texts = TEXTS.slice(0, 3);
const EXPECTED = {
  "@bomb.sh/args 0.3.1": [Number.NaN, Number.NaN, Number.NaN, ...NUMBERS],
  "ultraflag 0.2.3": [Number.NaN, Number.NaN, Number.NaN, ...NUMBERS],
  "cac 7.1.0": [...texts, ...NUMBERS],
  "cac 7.1.0, type: [String]": [...texts, ...NUMBERS.map(String)],
  "yargs-parser 22.0.0": [...texts, "0123", 1200000, "9007199254740993", 1.1],
  "minimist 1.2.8": [...texts, ...NUMBERS],
  "mri 1.2.0": [...texts, ...NUMBERS],
  "getopts 2.3.0": [...texts, ...NUMBERS],
};
console.log(`Node.js ${process.version}; values of --id: ${TEXTS.join(", ")}`);
for (const [name, read] of Object.entries(READERS)) {
  const seen = TEXTS.map((text) => read(["--id", text]));
  console.log(`${name}: ${seen.map((value) => (typeof value === "number" ? value : `"${value}"`)).join(" ")}`);
  assert.deepEqual(seen, EXPECTED[name] ?? TEXTS);
}
assert.deepEqual(bomb(["12ab34cd"])._, [Number.NaN]);
console.log("as found");
JS
node finding.mjs
