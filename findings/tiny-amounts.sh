#!/usr/bin/env bash
# Printing amounts below a millionth of a token with packages that format numbers
#
# One would guess: a package that prints 0.00000123 with 8 decimals prints 0.00000045 as well. numeral is known to print NaN there.
# What happens: JavaScript writes numbers below 0.000001 with an exponent, and three packages cut that text at the point. number-format.js 2.0.9
# prints 0.00000045 as "4.00000005", nine million times too much. format-number 3.0.0 and format-number-with-string 0.0.2 print
# "4.5e-70000". numeral 2.0.6 prints NaN. numbro, accounting, d3-format and format-num are right for all of 5,000 amounts.
# Whom it hurts: wallets and explorers of tokens with 8 decimals: fees, dust and rates. The text looks like an amount, and a user pays it.
# Print amounts from their integer of smallest units.
# Versions: see below; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts number-format.js@2.0.9 format-number@3.0.0 format-number-with-string@0.0.2 \
  numeral@2.0.6 numbro@2.5.0 accounting@0.4.1 d3-format@3.1.3 format-num@1.2.0
cat > finding.mjs <<'JS'
import { createRequire } from "node:module";
import { format as d3 } from "d3-format";

const load = createRequire(import.meta.url);
const defaultOf = (loaded) => loaded.default ?? loaded;
const masked = defaultOf(load("number-format.js"));
const withString = defaultOf(load("format-number-with-string"));
const formatNumber = load("format-number")({ round: 8, padRight: 8, integerSeparator: "" });
const numeral = load("numeral");
const numbro = load("numbro");
const accounting = load("accounting");
const formatNum = defaultOf(load("format-num"));
const PACKAGES = {
  "number-format.js 2.0.9": (number) => masked("0.00000000", number),
  "format-number 3.0.0": formatNumber,
  "format-number-with-string 0.0.2": (number) => withString(number, "0.00000000"),
  "numeral 2.0.6": (number) => numeral(number).format("0.00000000"),
  "numbro 2.5.0": (number) => numbro(number).format({ mantissa: 8 }),
  "accounting 0.4.1": (number) => accounting.toFixed(number, 8),
  "d3-format 3.1.3": d3(".8f"),
  "format-num 1.2.0": (number) => formatNum(number, { minFraction: 8, maxFraction: 8 }).replaceAll(",", ""),
};

/** Always the same amounts: up to 10 million tokens, half of them small. */
let state = 1;
const random = () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
const amounts = Array.from({ length: 5_000 }, () => Math.floor(random() * 10 ** (1 + Math.floor(random() * 15))) / 1e8);
const isTiny = (amount) => amount > 0 && amount < 1e-6;
const tiny = amounts.filter(isTiny).length;

console.log(`Node.js ${process.version}; wrong for ${tiny} amounts below 0.000001, and for ${amounts.length - tiny} others`);
const seen = {};
for (const [name, format] of Object.entries(PACKAGES)) {
  const wrong = amounts.filter((amount) => String(format(amount)) !== amount.toFixed(8));
  const counts = [wrong.filter(isTiny).length, wrong.filter((amount) => !isTiny(amount)).length];
  seen[name] = [...counts, String(format(0.00000045)), String(format(0.00000123))];
  console.log(`${name.padEnd(34)}${counts.join(", ").padEnd(10)}0.00000045: ${seen[name][2]}  0.00000123: ${seen[name][3]}`);
}
const texts = {
  "number-format.js 2.0.9": "4.00000005",
  "format-number 3.0.0": "4.5e-70000",
  "format-number-with-string 0.0.2": "4.5e-70000",
  "numeral 2.0.6": "NaN",
};
const isSame = Object.entries(seen).every(
  ([name, [low, others, text, other]]) =>
    low === (texts[name] ? tiny : 0) && others === 0 && text === (texts[name] ?? "0.00000045") && other === "0.00000123",
);
if (!isSame) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
node finding.mjs
