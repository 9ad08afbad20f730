/** Addresses (identities.md 3). */
import { decodeBase58check, encodeBase58check } from "../crypto/base58check.ts";
import { concatBytes, hexToBytes } from "../crypto/bytes.ts";
import { ripemd160 } from "../crypto/hashes.ts";
import { IdentityError } from "./error.ts";
import { isPublicKeyText } from "./keys.ts";

/** Characters of an address whose payload is a version byte and 20 bytes. */
const ADDRESS_LENGTH = 34;

/**
 * Returns the address of a public key in hexadecimal; only the form of the key is checked, so that digits
 * that are not a point of the curve have an address, too.
 *
 * @param version address version byte of the network, 1 to 255; zero would mean "not given" to the old
 * network's software and is refused here instead of being replaced
 * @throws {IdentityError} PublicKeyError unless the key is 66 hexadecimal digits; INVALID_ADDRESS_VERSION
 */
export function addressFromPublicKey(publicKey: string, version: number): string {
  if (!isPublicKeyText(publicKey)) {
    throw new IdentityError("PublicKeyError", "a public key must be 66 hexadecimal digits");
  }
  if (!Number.isInteger(version) || version < 1 || version > 255) {
    throw new IdentityError(
      "INVALID_ADDRESS_VERSION",
      `the address version must be 1 to 255, not ${version}`,
    );
  }
  // RIPEMD-160 of the key itself: unlike in Bitcoin, there is no SHA-256 step.
  return encodeBase58check(concatBytes(Uint8Array.of(version), ripemd160(hexToBytes(publicKey))));
}

/** Returns true if a text decodes and belongs to the network. The payload length is not checked. */
export function isAddress(text: string, version: number): boolean {
  try {
    return decodeBase58check(text)[0] === version;
  } catch {
    return false;
  }
}

/**
 * Returns the bytes of an address in a transaction: version byte and hash, of any length. `isForeign` is true
 * if the version byte is not the network's; some types check it (transactions.md 6.2).
 *
 * @throws {Error} if the text is not base58check
 */
export function decodeAddress(text: string, version: number): { payload: Uint8Array; isForeign: boolean } {
  const payload = decodeBase58check(text);
  return { payload, isForeign: payload[0] !== version };
}

/** Returns true if a text is accepted as a public key: its form, and an address of the usual length. */
export const isPublicKey = (text: string, version: number): boolean =>
  isPublicKeyText(text) && addressFromPublicKey(text, version).length === ADDRESS_LENGTH;
