/** Hierarchical deterministic wallets (identities.md 11): a helper for wallets, not part of consensus. */

import { HDKey } from "@scure/bip32";
import { mnemonicToSeedSync } from "@scure/bip39";
import type { NetworkDescription } from "../networks/network.ts";
import { present } from "../present.ts";
import { IdentityError } from "./error.ts";
import type { KeyPair } from "./keys.ts";

/** Coin type of all networks, independent of `slip44` of the network. */
const COIN = 111;

/** A node of the tree of keys. */
export type HdNode = {
  readonly keys: KeyPair;
  /** BIP32 text of the private key. */
  readonly extendedPrivateKey: string;
  /** The node at a path below, such as `m/0'/0/0`. */
  derive(path: string): HdNode;
};

/**
 * Root of a BIP39 mnemonic; words and checksum are not checked.
 *
 * @param passphrase optional word that protects the mnemonic
 * @throws {IdentityError} INVALID_MNEMONIC
 */
export function hdRoot(mnemonic: string, network: NetworkDescription, passphrase = ""): HdNode {
  return nodeOf(HDKey.fromMasterSeed(seedOf(mnemonic, passphrase), network.bip32));
}

/** The node of the coin: `m/44'/111'`. */
export const hdCoinNode = (root: HdNode): HdNode => root.derive(`m/44'/${COIN}'`);

/** Derives the node of a network below that of the coin: `aip20`, hardened, with 0 replaced by 1. */
export const hdNetworkNode = (root: HdNode, network: NetworkDescription): HdNode =>
  root.derive(`m/44'/${COIN}'/${network.aip20 || 1}'`);

function seedOf(mnemonic: string, passphrase: string): Uint8Array {
  try {
    return mnemonicToSeedSync(mnemonic, passphrase);
  } catch {
    throw new IdentityError("INVALID_MNEMONIC", "a mnemonic must have 12, 15, 18, 21 or 24 words");
  }
}

const nodeOf = (key: HDKey): HdNode => ({
  // Every node is derived from a seed, so it has a private key.
  keys: {
    privateKey: present(key.privateKey, "the private key of a node"),
    publicKey: present(key.publicKey, "the public key of a node"),
  },
  extendedPrivateKey: key.privateExtendedKey,
  derive: (path) => nodeOf(key.derive(path)),
});
