/** Ed25519 (RFC 8032), which signs checkpoints of nodes; the network itself does not use it. */
import { ed25519 } from "@noble/curves/ed25519.js";

/**
 * Verifies a signature as strictly as RFC 8032. Malformed keys and signatures are false.
 *
 * @param signature 64 bytes
 * @param publicKey 32 bytes
 */
export function verifyEd25519(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false;
  }
}
