/** ECDSA with strict DER and low s (identities.md 6). */
import { defaultSignatureBackend } from "./backend.ts";
import { backend, requireBytes } from "./secp256k1.ts";

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
