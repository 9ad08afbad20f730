/** The backend that verifies signatures; a faster one can replace the default. */
import { name, backend as secp256k1 } from "./secp256k1.ts";

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
