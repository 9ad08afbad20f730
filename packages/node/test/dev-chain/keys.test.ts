/** Words of the accounts of a dev chain. */
import { randomBytes } from "node:crypto";
import { entropyToMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { expect, test } from "vitest";
import { toMnemonic } from "../../src/dev-chain/keys.ts";

test("Entropy is converted to the words that the library of BIP39 gives.", () => {
  const ends = [0x00, 0xff].map((byte) => new Uint8Array(16).fill(byte));
  for (const entropy of [...ends, ...Array.from({ length: 50 }, () => randomBytes(16))]) {
    expect(toMnemonic(entropy)).toBe(entropyToMnemonic(entropy, wordlist));
  }
});
