#!/usr/bin/env bash
# Negative amounts in the conversion between LSK and Beddows
#
# One would guess: the functions of Lisk that convert amounts refuse negative ones, or keep the sign, as they accept a minus and
# convert -1 to -100000000.
# What happens: in @liskhq/lisk-transactions 6.1.0 (and 5.2.2), `convertLSKToBeddows` applies the sign to the whole tokens only and adds
# the decimals: "-1.5" becomes -50000000, "-0.5" becomes 50000000. `convertBeddowsToLSK` is right from one token on, and drops the sign
# below: "-50000000" becomes "0.5". The way there and back changes every negative amount with decimals.
# Whom it hurts: bookkeeping and explorers that convert differences (debits, changes of a balance): whole amounts are right, others are
# wrong by up to two tokens, and small debits become credits. Convert the absolute value, and set the sign afterwards.
# Versions: see below; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts \
  lisk6@npm:@liskhq/lisk-transactions@6.1.0 lisk5@npm:@liskhq/lisk-transactions@5.2.2
cat > finding.mjs <<'JS'
import lisk5 from "lisk5";
import lisk6 from "lisk6";

const outcome = (convert, text) => {
  try {
    return String(convert(text));
  } catch {
    return "refused";
  }
};
const seen = {};
for (const [version, lisk] of Object.entries({ "6.1.0": lisk6, "5.2.2": lisk5 })) {
  for (const text of ["1.5", "-1", "-1.5", "-0.5"]) seen[`${version} LSK to Beddows ${text}`] = outcome(lisk.convertLSKToBeddows, text);
  for (const text of ["-150000000", "-50000000", "-1"]) seen[`${version} Beddows to LSK ${text}`] = outcome(lisk.convertBeddowsToLSK, text);
}
console.log(`Node.js ${process.version}`);
for (const [name, value] of Object.entries(seen)) console.log(`${name.padEnd(36)}${value}`);
const expected = ["150000000", "-100000000", "-50000000", "50000000", "-1.5", "0.5", "0.00000001"];
if (JSON.stringify(Object.values(seen)) !== JSON.stringify([...expected, ...expected])) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
npm ls --depth=0 | tail -n +2
node finding.mjs
