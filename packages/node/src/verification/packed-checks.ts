/**
 * Packs signature checks into plain bytes, so that a batch costs one message between threads. A verifier
 * thread loads only this file and the addon: nothing here imports more than types.
 */
import type { SignatureJob } from "@uniknode/protocol";

/** Input of a signature check, and its scheme: `hash` has 32 bytes, `publicKey` 33. */
export type SignatureCheck = SignatureJob & { readonly scheme: "ecdsa" | "schnorr" };

const SCHNORR_BYTES = 64;

/** 64 bytes are Schnorr, everything else is ECDSA (transactions.md 10). */
export const schemeOf = ({ signature }: SignatureJob): SignatureCheck["scheme"] =>
  signature.length === SCHNORR_BYTES ? "schnorr" : "ecdsa";

/** Two minimal 33-byte integers and six bytes around them: nothing longer is strict DER. */
const MAX_SIGNATURE_BYTES = 72;

/** hash | scheme | length of the signature, 0 for one that is too long to be valid | signature | public key, as in native/verify.h */
const SCHEME_AT = 32;
const LENGTH_AT = 33;
const SIGNATURE_AT = 34;
const PUBLIC_KEY_AT = SIGNATURE_AT + MAX_SIGNATURE_BYTES;
export const ENTRY_BYTES = PUBLIC_KEY_AT + 33;

/** The bytes own their buffer, which may be transferred. */
export function packChecks(checks: readonly SignatureCheck[]): Uint8Array<ArrayBuffer> {
  const packed = new Uint8Array(checks.length * ENTRY_BYTES);
  for (const [index, { hash, scheme, signature, publicKey }] of checks.entries()) {
    const at = index * ENTRY_BYTES;
    packed.set(hash, at);
    packed[at + SCHEME_AT] = scheme === "schnorr" ? 1 : 0;
    if (signature.length <= MAX_SIGNATURE_BYTES) {
      packed[at + LENGTH_AT] = signature.length;
      packed.set(signature, at + SIGNATURE_AT);
    }
    packed.set(publicKey, at + PUBLIC_KEY_AT);
  }
  return packed;
}

/** Verifies a packed batch and returns its verdicts: 1 for each valid signature, 0 for the others. */
export type PackedVerify = (packed: Uint8Array) => Uint8Array<ArrayBuffer>;

/** Returns the check at an index; its parts share the memory of the batch. */
export function unpackCheck(packed: Uint8Array, index: number): SignatureCheck {
  const entry = packed.subarray(index * ENTRY_BYTES, (index + 1) * ENTRY_BYTES);
  return {
    scheme: entry[SCHEME_AT] === 1 ? "schnorr" : "ecdsa",
    hash: entry.subarray(0, SCHEME_AT),
    signature: entry.subarray(SIGNATURE_AT, SIGNATURE_AT + (entry[LENGTH_AT] ?? 0)),
    publicKey: entry.subarray(PUBLIC_KEY_AT),
  };
}

/** Allocates the verdicts of a packed batch, all 0. */
export const verdictsFor = (packed: Uint8Array): Uint8Array<ArrayBuffer> =>
  new Uint8Array(packed.length / ENTRY_BYTES);
