/** Passphrases, private keys and public keys (identities.md 2). */
import { utf8ToBytes } from "../crypto/bytes.ts";
import { sha256 } from "../crypto/hashes.ts";
import { backend } from "../crypto/secp256k1.ts";
import { IdentityError } from "./error.ts";

/**
 * `privateKey` is 32 bytes. `publicKey` is the compressed point, 33 bytes; 65 bytes where the
 * uncompressed form was requested, which does not exist on the chain.
 */
export type KeyPair = { privateKey: Uint8Array; publicKey: Uint8Array };

/** Returns the keys of a passphrase: SHA-256 of its UTF-8 bytes, neither trimmed nor normalised; it can be empty. */
export const keysFromPassphrase = (passphrase: string): KeyPair =>
  keysFromPrivateKey(sha256(utf8ToBytes(passphrase)));

/** Number of words of the shortest generated passphrase, and of mistyped words in one. */
const LEAST_WORDS = 12;
const MOST_MISTYPED = 2;

/**
 * Describes what looks mistyped in a passphrase, without its text; undefined if nothing does. Any text is a valid passphrase.
 *
 * @param words list of words of generated passphrases
 * @param name name of the passphrase in the description
 */
export function passphraseMistake(
  passphrase: string,
  words: readonly string[],
  name = "passphrase",
): string | undefined {
  if (passphrase.trim() !== passphrase) return `the ${name} begins or ends with a blank, which is part of it`;
  const typed = passphrase.split(" ");
  const mistyped = typed.flatMap((word, index) => (words.includes(word) ? [] : [index + 1]));
  // Others were not generated from the list.
  if (typed.length < LEAST_WORDS || mistyped.length > MOST_MISTYPED || mistyped.length === 0)
    return undefined;
  const [is, which] = mistyped.length === 1 ? ["is", "word"] : ["are", "words"];
  return `${which} ${mistyped.join(" and ")} of the ${name} ${is} not in the list of words`;
}

/**
 * Keys of a private key.
 *
 * @throws {IdentityError} INVALID_PRIVATE_KEY unless it is 32 bytes long, not zero and below the order of the group
 */
export function keysFromPrivateKey(privateKey: Uint8Array, compressed = true): KeyPair {
  if (privateKey.length !== 32 || !backend.validatePrivateKey(privateKey)) {
    throw new IdentityError(
      "INVALID_PRIVATE_KEY",
      "a private key must be 32 bytes, not zero and below the order of secp256k1",
    );
  }
  const publicKey = compressed
    ? backend.derivePublicKeyCompressed(privateKey)
    : backend.derivePublicKeyUncompressed(privateKey);
  // A text instead of bytes reports a scalar out of range, which was excluded above.
  return { privateKey, publicKey: publicKey as Uint8Array };
}

/** Returns true if a text has the form of a public key, in either letter case. The point itself is not checked. */
export const isPublicKeyText = (text: string): boolean => /^[0-9a-fA-F]{66}$/.test(text);
