/** Verification of packed signatures by the protocol's own code, in WebAssembly or by an accelerator. */
import { type SignatureBackend, uncompressPublicKey, verifyEcdsa, verifySchnorr } from "@uniknode/protocol";
import { type PackedVerify, unpackCheck, verdictsFor } from "./packed-checks.ts";

/** Uncompressed keys kept: more than a network has active senders at a time, and about 2 MB. */
const MAX_KEYS = 10_000;

/**
 * The same delegates and senders come again and again: their keys are taken apart once.
 *
 * @param backend what verifies; the default one if absent
 */
export function createPackedVerify(backend?: SignatureBackend): PackedVerify {
  const keys = new Map<string, Uint8Array>();

  function keyOf(compressed: Uint8Array): Uint8Array {
    const name = textOf(compressed);
    let key = keys.get(name);
    if (!key) {
      // What is no point stays as it is, and fails.
      key = uncompressPublicKey(compressed) ?? compressed;
      if (keys.size >= MAX_KEYS) keys.clear();
      keys.set(name, key);
    }
    return key;
  }

  return (packed) => {
    const verdicts = verdictsFor(packed);
    for (let index = 0; index < verdicts.length; index++) {
      const { scheme, hash, signature, publicKey } = unpackCheck(packed, index);
      const verify = scheme === "schnorr" ? verifySchnorr : verifyEcdsa;
      verdicts[index] = verify(hash, signature, keyOf(publicKey), backend) ? 1 : 0;
    }
    return verdicts;
  };
}

const textOf = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString("latin1");
