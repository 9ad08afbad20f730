/**
 * Signatures, and the backend that verifies them, which a faster one can replace: ECDSA with strict DER and low s (identities.md 6), and
 * the Schnorr signature of the network, the draft that preceded BIP-340, with the quadratic residue rule on y(R) and the 33-byte key
 * inside the challenge (identities.md 7).
 */

import { bytesToHex, concatBytes, hexToBytes } from "./bytes.ts";
import { sha256 } from "./hashes.ts";
import { backend, FIELD_PRIME, name, ORDER, requireBytes, backend as secp256k1 } from "./secp256k1.ts";

/**
 * The two equations, for input that `verifyEcdsa` and `verifySchnorr` have checked to be well-formed: a hash
 * of 32 bytes, and a key of 33 or 65 bytes that need not be a point. They must not throw, and every result
 * must equal that of `defaultSignatureBackend`: `disagreementOf` checks it.
 */
export type SignatureBackend = {
  /** Description for people: the implementation and how it runs. */
  readonly name: string;
  /** The signature is strict DER; s > n/2 must be refused here (identities.md 6). */
  verifyEcdsa(hash: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean;
  /** The signature has 64 bytes (identities.md 7). */
  verifySchnorr(hash: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean;
};

/** Runs everywhere; the reference for every other backend. */
export const defaultSignatureBackend: SignatureBackend = {
  name,
  // The "low s" form of the verifier refuses s > n/2.
  verifyEcdsa: (hash, signature, publicKey) => secp256k1.verifySignatureDERLowS(signature, publicKey, hash),
  verifySchnorr: (hash, signature, publicKey) => secp256k1.verifySignatureSchnorr(signature, publicKey, hash),
};

/**
 * Deterministic signature (RFC 6979, low s) in DER, usually 70 or 71 bytes.
 *
 * @throws {RangeError} if the hash is not 32 bytes, or the private key no scalar of the group
 */
export function signEcdsa(hash: Uint8Array, privateKey: Uint8Array): Uint8Array {
  // The backend copies the input into its own memory, regardless of its length.
  if (hash.length !== 32 || privateKey.length !== 32) {
    throw new RangeError("hash and private key must be 32 bytes each");
  }
  return requireBytes(backend.signMessageHashDER(privateKey, hash));
}

/** Returns true if `signature` is strict DER with low s and valid for the 32-byte hash; never throws. */
export function verifyEcdsa(
  hash: Uint8Array,
  signature: Uint8Array,
  publicKey: Uint8Array,
  by = defaultSignatureBackend,
): boolean {
  if (hash.length !== 32 || !isKeyLength(publicKey) || !isStrictDer(signature)) return false;
  return by.verifyEcdsa(hash, signature, publicKey);
}

const isKeyLength = (publicKey: Uint8Array) => publicKey.length === 33 || publicKey.length === 65;

/** Requires `30 LL 02 RL R 02 SL S`: short lengths, no trailing bytes, minimal non-negative integers. */
function isStrictDer(signature: Uint8Array): boolean {
  if (signature.length < 8 || signature[0] !== 0x30) return false;
  const total = signature[1] ?? 0;
  if (total > 127 || total !== signature.length - 2) return false;
  const rLength = signature[3] ?? 0;
  const sAt = 4 + rLength;
  if (signature[2] !== 0x02 || sAt + 2 > signature.length || signature[sAt] !== 0x02) return false;
  const sLength = signature[sAt + 1] ?? 0;
  return (
    signature.length === 6 + rLength + sLength &&
    isMinimalInteger(signature.subarray(4, sAt)) &&
    isMinimalInteger(signature.subarray(sAt + 2))
  );
}

function isMinimalInteger(bytes: Uint8Array): boolean {
  const [first, second] = bytes;
  if (first === undefined || first > 0x7f || bytes.length > 33) return false;
  return first !== 0 || (second !== undefined && second > 0x7f);
}

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
