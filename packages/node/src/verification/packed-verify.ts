/** Verifies packed signatures with the protocol's own code, in WebAssembly. */
import { uncompressPublicKey, verifyEcdsa, verifySchnorr } from "@uniknode/protocol";
import { Lru } from "../platform/bounded-entries.ts";
import { type PackedVerify, unpackCheck, verdictsFor } from "./packed-checks.ts";

/** Number of uncompressed keys to cache: more than the concurrently active senders of a network, and about 2 MB. */
const MAX_KEYS = 10_000;

/** Caches uncompressed keys, because the same delegates and senders appear again and again. */
export function createPackedVerify(): PackedVerify {
  const keys = new Lru<string, Uint8Array>(MAX_KEYS);
  // A key that is not a point stays compressed, and its check fails.
  const keyOf = (compressed: Uint8Array) =>
    keys.get(textOf(compressed), () => uncompressPublicKey(compressed) ?? compressed);

  return (packed) => {
    const verdicts = verdictsFor(packed);
    for (let index = 0; index < verdicts.length; index++) {
      const { scheme, hash, signature, publicKey } = unpackCheck(packed, index);
      const verify = scheme === "schnorr" ? verifySchnorr : verifyEcdsa;
      verdicts[index] = verify(hash, signature, keyOf(publicKey)) ? 1 : 0;
    }
    return verdicts;
  };
}

const textOf = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString("latin1");
