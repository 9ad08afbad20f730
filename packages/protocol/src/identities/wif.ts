/** Wallet import format (identities.md section 4). */
import { decodeBase58check, encodeBase58check } from "../crypto/base58check.ts";
import { concatBytes } from "../crypto/bytes.ts";
import { type KeyPair, keysFromPrivateKey } from "./keys.ts";

const COMPRESSED = 0x01;

/** Text of a private key, in the compressed form. `version` is the WIF version byte of the network. */
export const encodeWif = (privateKey: Uint8Array, version: number): string =>
  encodeBase58check(concatBytes(Uint8Array.of(version), privateKey, Uint8Array.of(COMPRESSED)));

/**
 * Keys of a WIF text, and whether it asks for the compressed form.
 *
 * @throws {RangeError} on a foreign version byte, a wrong length or a scalar out of range
 * @throws {Error} on a wrong checksum
 */
export function decodeWif(wif: string, version: number): KeyPair & { compressed: boolean } {
  const payload = decodeBase58check(wif);
  if (payload[0] !== version) throw new RangeError("the WIF belongs to another network");
  const compressed = payload.length === 34;
  if (payload.length !== 33 && !(compressed && payload[33] === COMPRESSED)) {
    throw new RangeError("a WIF must carry 32 bytes and optionally the compression mark");
  }
  return { ...keysFromPrivateKey(payload.slice(1, 33)), compressed };
}
