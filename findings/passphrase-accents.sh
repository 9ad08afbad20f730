#!/usr/bin/env bash
# The seed of a BIP39 phrase with a passphrase (the "25th word") that has an accent
#
# One would guess: packages of BIP39 normalise phrase and passphrase (NFKD) before they derive the seed, as the specification says and as
# its vectors in Japanese require.
# What happens: bip39-light 1.0.7 and bip39-mnemonic 2.5.0 normalise the phrase, and not the passphrase. "café" as keyboards and browsers
# type it gives another seed, hence other keys and addresses, than in the six other packages; the same word typed on a system that
# decomposes accents gives the seed of the specification. For passphrases in ASCII all agree, so that tests in English pass.
# Whom it hurts: owners who move a wallet with such a passphrase from or to a program that uses one of the two: the wallet is empty
# there. Nothing fails: each passphrase is valid. Compare an address with a second program before you fund it; normalise yourself.
# Versions: bip39-light 1.0.7, bip39-mnemonic 2.5.0, bip39 3.1.2, @scure/bip39 2.4.0, ethers 6.17.0, bitcore-mnemonic 11.5.1, web-bip39 0.0.3,
# @metamask/bip39 4.0.0; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts bip39-light@1.0.7 bip39-mnemonic@2.5.0 bip39@3.1.2 @scure/bip39@2.4.0 \
  ethers@6.17.0 bitcore-mnemonic@11.5.1 web-bip39@0.0.3 @metamask/bip39@4.0.0
cat > finding.mjs <<'JS'
import { pbkdf2Sync } from "node:crypto";
import { createRequire } from "node:module";

const load = createRequire(import.meta.url);
const { mnemonicToSeedSync: scure } = await import("@scure/bip39");
const { Mnemonic } = await import("ethers");
const Bitcore = load("bitcore-mnemonic");
const PACKAGES = {
  "bip39 3.1.2": load("bip39").mnemonicToSeedSync,
  "@scure/bip39 2.4.0": scure,
  "ethers 6.17.0": (phrase, word) => Buffer.from(Mnemonic.fromPhrase(phrase, word).computeSeed().slice(2), "hex"),
  "bitcore-mnemonic 11.5.1": (phrase, word) => new Bitcore(phrase, Bitcore.Words.ENGLISH).toSeed(word),
  "web-bip39 0.0.3": load("web-bip39").mnemonicToSeed,
  "@metamask/bip39 4.0.0": load("@metamask/bip39").mnemonicToSeed,
  "bip39-light 1.0.7": load("bip39-light").mnemonicToSeed,
  "bip39-mnemonic 2.5.0": load("bip39-mnemonic").mnemonicToSeed,
};

/** The seed by the specification, from the key derivation of Node.js alone. */
const specified = (phrase, word) => pbkdf2Sync(phrase.normalize("NFKD"), `mnemonic${word.normalize("NFKD")}`, 2_048, 64, "sha512");

// A phrase of the published vectors.
const phrase = "legal winner thank year wave sausage worth useful legal winner thank yellow";
const words = { "TREZOR": "TREZOR", "café, composed": "caf\u00e9", "café, decomposed": "cafe\u0301", "one sign for ﬁ": "\ufb01" };
console.log(`Node.js ${process.version}`);
const seen = {};
for (const [name, seedOf] of Object.entries(PACKAGES)) {
  seen[name] = "";
  for (const word of Object.values(words)) {
    const seed = await seedOf(phrase, word);
    const hex = typeof seed === "string" ? seed : Buffer.from(seed).toString("hex");
    seen[name] += hex === specified(phrase, word).toString("hex") ? "+" : "-";
  }
  const text = Object.keys(words).map((word, index) => `${word}: ${seen[name][index] === "+" ? "as specified" : "ANOTHER SEED"}`);
  console.log(`${name.padEnd(26)}${text.join("; ")}`);
}
const expected = { "bip39-light 1.0.7": "+-+-", "bip39-mnemonic 2.5.0": "+-+-" };
if (Object.entries(seen).some(([name, marks]) => marks !== (expected[name] ?? "++++"))) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
node finding.mjs
