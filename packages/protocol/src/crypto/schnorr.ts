/**
 * The Schnorr signature of the network: the draft that preceded BIP-340, with the quadratic residue
 * rule on y(R) and the 33-byte key inside the challenge (identities.md 7).
 */
import { defaultSignatureBackend } from "./backend.ts";
import { bytesToHex, concatBytes, hexToBytes } from "./bytes.ts";
import { sha256 } from "./hashes.ts";
import { backend, FIELD_PRIME, ORDER, requireBytes } from "./secp256k1.ts";

const MINUS_ONE = hexToBytes((ORDER - 1n).toString(16));

/**
 * Deterministic 64-byte signature.
 *
 * @throws {RangeError} if the hash is not 32 bytes, or the private key no scalar of the group
 */
export function signSchnorr(hash: Uint8Array, privateKey: Uint8Array): Uint8Array {
  if (hash.length !== 32 || privateKey.length !== 32) {
    throw new RangeError("hash and private key must be 32 bytes each");
  }
  // k0 = int(H(d || m)) mod n
  let k = reduce(sha256(concatBytes(privateKey, hash)));
  const point = requireBytes(backend.derivePublicKeyUncompressed(k));
  const rx = point.slice(1, 33);
  // k = k0 if y(R) is a square modulo p, otherwise n - k0
  if (!isSquare(BigInt(`0x${bytesToHex(point.subarray(33))}`))) {
    k = requireBytes(backend.mulTweakPrivateKey(k, MINUS_ONE));
  }
  // e = int(H(rx || P || m)) mod n ;  s = k + e*d
  const publicKey = requireBytes(backend.derivePublicKeyCompressed(privateKey));
  const e = reduce(sha256(concatBytes(rx, publicKey, hash)));
  const s = requireBytes(
    backend.addTweakPrivateKey(requireBytes(backend.mulTweakPrivateKey(privateKey, e)), k),
  );
  return concatBytes(rx, s);
}

/** Returns true if the 64-byte signature is valid for the 32-byte hash; never throws. */
export function verifySchnorr(
  hash: Uint8Array,
  signature: Uint8Array,
  publicKey: Uint8Array,
  by = defaultSignatureBackend,
): boolean {
  if (hash.length !== 32 || signature.length !== 64) return false;
  if (publicKey.length !== 33 && publicKey.length !== 65) return false;
  return by.verifySchnorr(hash, signature, publicKey);
}

/** A digest modulo n, which changes only one in 2^128. */
function reduce(digest: Uint8Array): Uint8Array {
  const value = BigInt(`0x${bytesToHex(digest)}`);
  if (value < ORDER) return digest;
  return hexToBytes((value - ORDER).toString(16).padStart(64, "0"));
}

/** Jacobi symbol of y over the prime of the field, by reciprocity: a quarter of the time of a power (Euler's criterion). */
function isSquare(y: bigint): boolean {
  let [value, modulus, isResidue] = [y % FIELD_PRIME, FIELD_PRIME, true];
  while (value !== 0n) {
    while ((value & 1n) === 0n) {
      value >>= 1n;
      const rest = modulus & 7n;
      if (rest === 3n || rest === 5n) isResidue = !isResidue;
    }
    if ((value & 3n) === 3n && (modulus & 3n) === 3n) isResidue = !isResidue;
    [value, modulus] = [modulus % value, value];
  }
  return modulus === 1n && isResidue;
}
