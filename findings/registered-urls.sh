#!/usr/bin/env bash
# Web addresses with letters beyond ASCII in registrations of ARK networks
#
# One would guess: the builder of a business or bridgechain registration either refuses https://kät.example, or its transaction can be read
# back: the schema accepts it as an address, and the vendor field of a transfer may have any letter.
# What happens: the schema accepts it, the signature is made, and then `build` throws InvalidTransactionBytesError with an illegal byte or
# offset that does not name the address. The length of the text is written in bytes and read in characters. The same address in
# the forms for the wire (xn--, %C3%A4) works, and so does the vendor field.
# Whom it hurts: wallets that offer registrations: the user sees a fault of bytes for a link that the browser shows.
# Versions: @arkecosystem/core-magistrate-crypto 2.7.26, @arkecosystem/crypto 2.7.26; found on 2026-11-29 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts @arkecosystem/core-magistrate-crypto@2.7.26 @arkecosystem/crypto@2.7.26
cat > finding.cjs <<'JS'
const { Managers, Transactions } = require("@arkecosystem/crypto");
const { Builders, Transactions: types } = require("@arkecosystem/core-magistrate-crypto");

for (const name of ["core-magistrate-crypto", "crypto"]) {
  console.log(name, require(`@arkecosystem/${name}/package.json`).version);
}
Managers.configManager.setFromPreset("testnet");
Managers.configManager.setHeight(2);
for (const type of Object.values(types)) Transactions.TransactionRegistry.registerTransactionType(type);

const business = (fields) =>
  new Builders.BusinessRegistrationBuilder().businessRegistrationAsset({ name: "cat", website: "https://cat.example", ...fields });
const chain = (fields) =>
  new Builders.BridgechainRegistrationBuilder().bridgechainRegistrationAsset({
    ...{ name: "cat", seedNodes: ["192.0.2.1"], genesisHash: "ab".repeat(32), ports: { "@arkecosystem/core-api": 4003 } },
    ...{ bridgechainRepository: "https://cat.example", ...fields },
  });
const transfer = Transactions.BuilderFactory.transfer().recipientId("AJWRd23HNEhPLkK1ymMnwnDBX2a7QBZqff").amount("1");
const letters = "https://kät.example";
const builders = {
  "vendor field": transfer.vendorField(letters),
  website: business({ website: letters }),
  "website, update": new Builders.BusinessUpdateBuilder().businessUpdateAsset({ website: letters }),
  repository: business({ repository: letters }),
  "repository of a chain": chain({ bridgechainRepository: letters }),
  "assets of a chain": chain({ bridgechainAssetRepository: letters }),
  "website, xn--": business({ website: "https://xn--kt-uia.example" }),
  "website, %C3%A4": business({ website: "https://cat.example/k%C3%A4t" }),
};
const outcomes = Object.entries(builders).map(([name, builder]) => {
  try {
    builder.nonce("1").fee("5000000000").sign("a passphrase").build();
    return [name, "read back"];
  } catch (error) {
    return [name, `${error.constructor.name}: ${error.message}`];
  }
});
for (const [name, outcome] of outcomes) console.log(`${name}: ${outcome}`);
const failed = outcomes.filter(([, outcome]) => /^InvalidTransactionBytesError: .*Illegal/.test(outcome)).map(([name]) => name);
const expected = ["website", "website, update", "repository", "repository of a chain", "assets of a chain"];
if (failed.join() !== expected.join() || outcomes.some(([name, outcome]) => !failed.includes(name) && outcome !== "read back")) {
  console.log("the behaviour has changed");
  process.exit(1);
}
JS
NODE_BACKEND=js node finding.cjs
