/** Passphrases, private keys and public keys (identities.md section 2). */
import { utf8ToBytes } from "../crypto/bytes.ts";
import { sha256 } from "../crypto/hashes.ts";
import { backend } from "../crypto/secp256k1.ts";

/** `privateKey` is 32 bytes, `publicKey` the 33 bytes of the compressed point. */
export type KeyPair = { privateKey: Uint8Array; publicKey: Uint8Array };

/** Keys of a passphrase: SHA-256 of its UTF-8 bytes, neither trimmed nor normalised. */
export const keysFromPassphrase = (passphrase: string): KeyPair =>
  keysFromPrivateKey(sha256(utf8ToBytes(passphrase)));

/**
 * Keys of a private key.
 *
 * @throws {RangeError} unless it is 32 bytes long, not zero and below the order of the group
 */
export function keysFromPrivateKey(privateKey: Uint8Array): KeyPair {
  if (privateKey.length !== 32 || !backend.validatePrivateKey(privateKey)) {
    throw new RangeError("a private key must be 32 bytes, not zero and below the order of secp256k1");
  }
  return { privateKey, publicKey: backend.derivePublicKeyCompressed(privateKey) as Uint8Array };
}

/** Whether a text has the form of a public key. The point itself is not examined. */
export const isPublicKeyText = (text: string): boolean => /^[0-9a-fA-F]{66}$/.test(text);
