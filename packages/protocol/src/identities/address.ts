/** Addresses (identities.md section 3). */
import { decodeBase58check, encodeBase58check } from "../crypto/base58check.ts";
import { concatBytes, hexToBytes } from "../crypto/bytes.ts";
import { ripemd160 } from "../crypto/hashes.ts";
import { isPublicKeyText } from "./keys.ts";

/**
 * Address of a public key in hexadecimal; only the form of the key is checked.
 *
 * @param version address version byte of the network, 1 to 255
 * @throws {RangeError} unless the key is 66 hexadecimal digits
 */
export function addressFromPublicKey(publicKey: string, version: number): string {
  if (!isPublicKeyText(publicKey)) throw new RangeError("a public key must be 66 hexadecimal digits");
  // RIPEMD-160 of the key itself: there is no SHA-256 step as in Bitcoin.
  return encodeBase58check(concatBytes(Uint8Array.of(version), ripemd160(hexToBytes(publicKey))));
}

/** Whether a text decodes and belongs to the network. The payload length is not examined. */
export function isAddress(text: string, version: number): boolean {
  try {
    return decodeBase58check(text)[0] === version;
  } catch {
    return false;
  }
}
