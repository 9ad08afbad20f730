/** Wallet import format (identities.md 4). */
import { decodeBase58check, encodeBase58check } from "../crypto/base58check.ts";
import { concatBytes } from "../crypto/bytes.ts";
import { IdentityError } from "./error.ts";
import { type KeyPair, keysFromPrivateKey } from "./keys.ts";

const COMPRESSED = 0x01;

/** Text of a private key, in the compressed form. `version` is the WIF version byte of the network. */
export const encodeWif = (privateKey: Uint8Array, version: number): string =>
  encodeBase58check(concatBytes(Uint8Array.of(version), privateKey, Uint8Array.of(COMPRESSED)));

/**
 * Returns the keys of a WIF text. The text decides the form of the public key: 65 bytes if not `compressed`.
 *
 * @throws {IdentityError} INVALID_WIF on a wrong checksum, length or compression mark, or a foreign version
 * byte; INVALID_PRIVATE_KEY on a scalar out of range
 */
export function decodeWif(wif: string, version: number): KeyPair & { compressed: boolean } {
  const payload = payloadOf(wif);
  if (payload[0] !== version) throw new IdentityError("INVALID_WIF", "the WIF belongs to another network");
  const compressed = payload.length === 34;
  if (payload.length !== 33 && !(compressed && payload[33] === COMPRESSED)) {
    throw new IdentityError("INVALID_WIF", "a WIF must carry 32 bytes and optionally the compression mark");
  }
  return { ...keysFromPrivateKey(payload.slice(1, 33), compressed), compressed };
}

function payloadOf(wif: string): Uint8Array {
  try {
    return decodeBase58check(wif);
  } catch {
    throw new IdentityError("INVALID_WIF", "the WIF has a foreign character or a wrong checksum");
  }
}
