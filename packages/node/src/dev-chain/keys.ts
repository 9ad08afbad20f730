/** The accounts of the dev chain, derived from one mnemonic: the same words give the same accounts. */
import { createHash, createHmac } from "node:crypto";
import { entropyToMnemonic, validateMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { addressFromPublicKey, bytesToHex, type KeyPair, keysFromPassphrase } from "@uniknode/protocol";
import { ConfigError } from "../platform/coded-error.ts";

export type DevAccount = {
  readonly name: string;
  /** Twelve words; an ordinary passphrase for every wallet of the network. */
  readonly passphrase: string;
  readonly keys: KeyPair;
  readonly publicKey: string;
  readonly address: string;
  /** Id of the unik that the setup blocks mint for this account, if any. */
  readonly unikId: string;
};

/** Derives the account of a name. */
export type DevAccounts = (name: string) => DevAccount;

/**
 * Derives the accounts of a mnemonic, with the network's address version.
 *
 * @throws {ConfigError} for a text that is not an English BIP39 mnemonic
 */
export function deriveAccounts(mnemonic: string, addressVersion: number): DevAccounts {
  if (!validateMnemonic(mnemonic, wordlist)) {
    throw new ConfigError(
      "--mnemonic: 12 to 24 words of the English BIP39 list with a valid checksum are expected",
    );
  }
  const known = new Map<string, DevAccount>();
  return (name) => {
    const found = known.get(name) ?? derive(mnemonic, name, addressVersion);
    known.set(name, found);
    return found;
  };
}

function derive(mnemonic: string, name: string, addressVersion: number): DevAccount {
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
