#!/usr/bin/env bash
# Amounts in payment links, with two packages that write and read them
#
# One would guess: a package that makes `bitcoin:ADDRESS?amount=...` links writes small amounts as decimals, as the format requires, and a
# package that reads the amounts of `ethereum:` links as text returns digits.
# What happens: bip21 3.0.0 writes 0.0000005 as "5e-7", without an error; other wallets cannot read it. 0.000001 and more are decimals. A
# text is written as it is. It also reads "5e-7", so that a test with the package alone passes. Amounts of 16 digits lose their last one,
# because it returns numbers. eth-url-parser 1.0.4 returns the value 2.014e18 as digits, and 1e21 as "1e+21", which BigInt refuses.
# Whom it hurts: shops and wallets that show a code for a small payment or a tip: the customer sees an invalid code or another amount;
# services that pay 1,000 tokens of 18 decimals from a link. Pass the amount to bip21 as a text of decimals.
# Versions: bip21 3.0.0, eth-url-parser 1.0.4; found on 2026-11-30 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts bip21@3.0.0 eth-url-parser@1.0.4
cat > finding.mjs <<'JS'
import * as bip21 from "bip21";
import { parse } from "eth-url-parser";

const address = "175tWpb8K1S7NmH4Zx6rewF9WQrcZv245W";
const written = (amount) => bip21.encode(address, { amount }).split("amount=")[1];
const read = (amount) => bip21.decode(`bitcoin:${address}?amount=${amount}`).options.amount;
const value = (text) =>
  parse(`ethereum:0xfb6916095ca1df60bb79Ce92ce3ea74c37c5d359?value=${text}`).parameters.value;
const seen = {
  "bip21 writes 0.000001": written(0.000001),
  "bip21 writes 0.0000005": written(0.0000005),
  'bip21 writes "0.0000005"': written("0.0000005"),
  "bip21 reads its 0.0000005": read(written(0.0000005)),
  "bip21 reads 90071992.54740993": read("90071992.54740993"),
  "eth-url-parser reads 2.014e18": value("2.014e18"),
  "eth-url-parser reads 1e21": value("1e21"),
};
console.log(`Node.js ${process.version}`);
for (const [name, result] of Object.entries(seen)) console.log(`${name.padEnd(34)}${typeof result} ${result}`);
const expected = [
  "0.000001",
  "5e-7",
  "0.0000005",
  0.0000005,
  90071992.54740994,
  "2014000000000000000",
  "1e+21",
];
if (JSON.stringify(Object.values(seen)) !== JSON.stringify(expected)) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
npm ls --depth=0 | tail -n +2
node finding.mjs
