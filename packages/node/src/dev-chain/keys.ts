/** Everybody on the dev chain, derived from one mnemonic: the same words give the same people. */
import { createHash, createHmac } from "node:crypto";
import { entropyToMnemonic, validateMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { addressFromPublicKey, bytesToHex, type KeyPair, keysFromPassphrase } from "@uniknode/protocol";
import { ConfigError } from "../platform/config-error.ts";

export type Person = {
  readonly name: string;
  /** Twelve words; an ordinary passphrase for every wallet of the network. */
  readonly passphrase: string;
  readonly keys: KeyPair;
  readonly publicKey: string;
  readonly address: string;
  /** Id of the unik that belongs to this person by the dev chain's first blocks, if it gets one. */
  readonly unikId: string;
};

/** Finds people by name; the address version is that of the network. */
export type People = (name: string) => Person;

/**
 * The people of a mnemonic.
 *
 * @throws {ConfigError} if it is no BIP39 mnemonic in English
 */
export function peopleOf(mnemonic: string, addressVersion: number): People {
  if (!validateMnemonic(mnemonic, wordlist)) {
    throw new ConfigError(
      "--mnemonic: 12 to 24 words of the English BIP39 list with a good checksum are expected",
    );
  }
  const known = new Map<string, Person>();
  return (name) => {
    const found = known.get(name) ?? derive(mnemonic, name, addressVersion);
    known.set(name, found);
    return found;
  };
}

function derive(mnemonic: string, name: string, addressVersion: number): Person {
  const entropy = createHmac("sha256", mnemonic).update(name).digest().subarray(0, 16);
  const passphrase = entropyToMnemonic(entropy, wordlist);
  const keys = keysFromPassphrase(passphrase);
  const publicKey = bytesToHex(keys.publicKey);
  return {
    name,
    passphrase,
    keys,
    publicKey,
    address: addressFromPublicKey(publicKey, addressVersion),
    unikId: createHash("sha256").update(`unik of ${publicKey}`).digest("hex"),
  };
}
