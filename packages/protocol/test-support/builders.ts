/** Wallets and networks for the tests of builders. */
import {
  addressFromPublicKey,
  bytesToHex,
  createNetwork,
  type KeyPair,
  keysFromPassphrase,
  presets,
  sha256,
  utf8ToBytes,
} from "../src/index.ts";

export const livenet = createNetwork(presets.livenet);
export const unitnet = createNetwork(presets.unitnet);

export const sender = keysFromPassphrase("sender passphrase");
export const factory = keysFromPassphrase("factory passphrase");
export const delegate = keysFromPassphrase("delegate");

export const hexOf = ({ publicKey }: KeyPair): string => bytesToHex(publicKey);

export const addressOf = (keys: KeyPair, { description } = livenet): string =>
  addressFromPublicKey(hexOf(keys), description.pubKeyHash);

/** A 64-digit id derived from a name. */
export const idOf = (name: string): string => bytesToHex(sha256(utf8ToBytes(name)));
