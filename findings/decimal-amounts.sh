#!/usr/bin/env bash
# Adding and comparing amounts of 8 decimals with packages for exact decimals
#
# One would guess: packages whose purpose are exact decimals add, subtract and compare amounts such as 3.5353504 and -0.00007193 exactly;
# at most they limit the digits of products.
# What happens: `compareTo` of bigdecimal 0.6.1 says that 0.05 is greater than 0.09609, and that 0.0657 is less than 0.01. `compare` of
# @phensley/decimal 1.14.0 says that 0.5 is less than 0, and 0 greater than 0.5; 1.5 and 0 are in order. @agrora/decimal 0.2.1 adds some
# negative amounts with a wrong sign: 10 + -0.5 is 10.5. decimal 0.0.2 loses the last digits of sums.
# bigdecimal.js, js-big-decimal, big.js, dnum and @subsquid/big-decimal are right in all 3,000 random pairs.
# Whom it hurts: programs that check a balance or a limit ("is the fee below 0.05?") with `compareTo`, and ledgers with debits.
# Most comparisons and sums are right, so that usual tests pass. Calculate in the smallest unit, with bigint.
# Versions: see below; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts bigdecimal@0.6.1 @phensley/decimal@1.14.0 @agrora/decimal@0.2.1 decimal@0.0.2 \
  bigdecimal.js@1.3.1 js-big-decimal@2.2.0 big.js@7.0.1 dnum@2.17.0 @subsquid/big-decimal@1.0.0
cat > finding.mjs <<'JS'
import { createRequire } from "node:module";
import * as dnum from "dnum";

const load = createRequire(import.meta.url);
const { BigDecimal: Port } = load("bigdecimal");
const { Decimal: Phensley } = load("@phensley/decimal");
const { default: Agrora } = load("@agrora/decimal");
const Decimal = load("decimal");
const { Big } = load("bigdecimal.js");
const JsBig = load("js-big-decimal").default ?? load("js-big-decimal");
const BigJs = load("big.js");
const { BigDecimal: Subsquid } = load("@subsquid/big-decimal");

/** Functions on texts. */
const PACKAGES = {
  "bigdecimal 0.6.1": {
    add: (a, b) => new Port(a).add(new Port(b)).toPlainString(),
    compare: (a, b) => new Port(a).compareTo(new Port(b)),
  },
  "@phensley/decimal 1.14.0": {
    add: (a, b) => new Phensley(a).add(b).toString(),
    compare: (a, b) => new Phensley(a).compare(b),
  },
  "@agrora/decimal 0.2.1": {
    add: (a, b) => Agrora.from(a).add(b).toString(),
    compare: (a, b) => Agrora.from(a).compareTo(b),
  },
  "decimal 0.0.2": { add: (a, b) => Decimal(a).add(b).toString() },
  "bigdecimal.js 1.3.1": {
    add: (a, b) => Big(a).add(Big(b)).toPlainString(),
    compare: (a, b) => Big(a).compareTo(Big(b)),
  },
  "js-big-decimal 2.2.0": { add: (a, b) => JsBig.add(a, b), compare: (a, b) => JsBig.compareTo(a, b) },
  "big.js 7.0.1": { add: (a, b) => new BigJs(a).plus(b).toFixed(), compare: (a, b) => new BigJs(a).cmp(b) },
  "dnum 2.17.0": {
    add: (a, b) => dnum.toString(dnum.add(a, b)),
    compare: (a, b) => dnum.compare(a, b),
  },
  "@subsquid/big-decimal 1.0.0": {
    add: (a, b) => Subsquid(a).plus(b).toFixed(),
    compare: (a, b) => (Subsquid(a).lt(b) ? -1 : Number(Subsquid(a).gt(b))),
  },
};

/** Always the same numbers: amounts of 1 to 18 digits, some negative, some small, without zeros at the end. */
let state = 1;
const random = () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
function amount() {
  const digits = Array.from({ length: 1 + Math.floor(random() * (random() < 0.5 ? 8 : 18)) }, () => Math.floor(random() * 10));
  const value = BigInt(digits.join(""));
  return random() < 0.3 ? -value : value;
}
/** The text of a number of smallest units. */
function text(units) {
  const digits = `${units < 0n ? -units : units}`.padStart(9, "0");
  const shown = `${digits.slice(0, -8)}.${digits.slice(-8)}`.replace(/\.?0+$/, "");
  return units < 0n && shown !== "0" ? `-${shown}` : shown;
}
/** Smallest units of a text; undefined unless it is a plain decimal of at most 8 digits. */
function units(shown) {
  const [, sign, whole, part = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(shown) ?? [];
  if (whole === undefined || /[^0]/.test(part.slice(8))) return undefined;
  return BigInt(`${sign}${whole}${part.slice(0, 8).padEnd(8, "0")}`);
}

const pairs = Array.from({ length: 3_000 }, () => [amount(), amount()]);
console.log(`Node.js ${process.version}; wrong results of ${pairs.length} pairs`);
const seen = {};
for (const [name, { add, compare }] of Object.entries(PACKAGES)) {
  const wrong = { sums: [], comparisons: [] };
  for (const [a, b] of [...pairs, [50_000_000n, 0n], [1_000_000_000n, -50_000_000n], [5_000_000n, 9_609_000n]]) {
    const sum = add(text(a), text(b));
    if (units(sum) !== a + b) wrong.sums.push(`${text(a)} + ${text(b)} = ${sum}`);
    const order = Math.sign(compare?.(text(a), text(b)) ?? Number(a > b) - Number(a < b));
    if (order !== Number(a > b) - Number(a < b)) wrong.comparisons.push(`${text(a)} ${order < 0 ? "<" : order > 0 ? ">" : "="} ${text(b)}`);
  }
  seen[name] = Object.entries(wrong).flatMap(([what, all]) => (all.length > 0 ? [what] : [])).join();
  console.log(name.padEnd(30) + Object.entries(wrong).map(([what, all]) => `${what}: ${all.length}`).join(", "));
  for (const example of [wrong.sums.at(-1), wrong.comparisons.at(-1)]) if (example !== undefined) console.log(`    ${example}`);
}
const expected = {
  "bigdecimal 0.6.1": "comparisons",
  "@phensley/decimal 1.14.0": "comparisons",
  "@agrora/decimal 0.2.1": "sums",
  "decimal 0.0.2": "sums",
};
if (Object.entries(seen).some(([name, what]) => what !== (expected[name] ?? ""))) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
node finding.mjs
