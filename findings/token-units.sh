#!/usr/bin/env bash
# Amounts of Mainsail between tokens and their smallest unit, with the converter of its TypeScript package
#
# One would guess: `UnitConverter` is exact for 18 decimals, as its method that rounds to 18 decimals suggests, and the amount that it
# returns can be written as text or JSON and passed to the builders, which take amounts as text.
# What happens: in @arkecosystem/typescript-crypto 0.0.15, `parseUnits` returns an object whose text and JSON have an exponent from 1,000
# tokens on: "1e+21". The builder of transfers refuses this text; it takes the object, and the text of 999.5 tokens. `formatUnits`
# returns a number, and `weiToArk` and `gweiToArk` go through it, so that at most 17 digits are left: 1.000000000000000001 becomes "1".
# Whom it hurts: wallets and exchanges that store or send the result of `parseUnits` as text: tests with small amounts pass, and the
# first large payment fails. A balance that is shown with `weiToArk` and sent in full leaves
# a rest. Use a bigint, or `toFixed()` of the object.
# Versions: @arkecosystem/typescript-crypto 0.0.15; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts @arkecosystem/typescript-crypto@0.0.15
cat > finding.mjs <<'JS'
import { TransferBuilder, UnitConverter } from "@arkecosystem/typescript-crypto";

/** Signs a transfer of an amount with a published test phrase; returns the amount that the transaction has. */
async function transfer(value) {
  try {
    const builder = TransferBuilder.new().gasPrice("5000000000").gasLimit("21000").nonce("1");
    await builder.to("0x6F0182a0cc707b055322CcF6d4CB6a5Aff1aEb22").value(value).sign("this is a top secret passphrase");
    const bytes = Buffer.from(await builder.transaction.serialize()).toString("hex");
    const digits = BigInt(value.toFixed?.() ?? value).toString(16).padStart(18, "0");
    return bytes.includes(digits) ? "signed" : "signed another amount";
  } catch {
    return "refused";
  }
}

const large = UnitConverter.parseUnits("1000", "ark");
const small = UnitConverter.parseUnits("999.5", "ark");
const wei = "1234567890123456789012345";
const shown = UnitConverter.weiToArk(wei);
const seen = {
  "text of 999.5 tokens": String(small),
  "text of 1,000 tokens": String(large),
  "JSON of 1,000 tokens": JSON.stringify(large),
  "toFixed() of 1,000 tokens": large.toFixed(),
  "transfer of the text of 999.5 tokens": await transfer(String(small)),
  "transfer of the text of 1,000 tokens": await transfer(String(large)),
  "transfer of the object of 1,000 tokens": await transfer(large),
  "formatUnits of 10^18 + 1": UnitConverter.formatUnits("1000000000000000001", "ark"),
  "weiToArk of 10^18 + 1": UnitConverter.weiToArk("1000000000000000001"),
  [`weiToArk of ${wei}`]: shown,
  "and back": UnitConverter.parseUnits(shown, "ark").toFixed(),
};
console.log(`Node.js ${process.version}`);
for (const [name, value] of Object.entries(seen)) console.log(`${name.padEnd(44)}${typeof value} ${value}`);
const expected = [
  "999500000000000000000",
  "1e+21",
  '"1e+21"',
  "1000000000000000000000",
  "signed",
  "refused",
  "signed",
  1,
  "1",
  "1234567.8901234567",
  "1234567890123456700000000",
];
if (JSON.stringify(Object.values(seen)) !== JSON.stringify(expected)) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
npm ls --depth=0 | tail -n +2
node finding.mjs
