/** Signature checks packed into plain bytes, so that a batch costs one message between threads. */
import {
  type SignatureBackend,
  type SignatureJob,
  uncompressPublicKey,
  verifyEcdsa,
  verifySchnorr,
} from "@uniknode/protocol";

/** What a signature is checked against, and how: `hash` has 32 bytes, `publicKey` 33. */
export type SignatureCheck = SignatureJob & { readonly scheme: "ecdsa" | "schnorr" };

const SCHNORR_BYTES = 64;

/** 64 bytes are Schnorr, everything else is ECDSA (transactions.md 10). */
export const schemeOf = ({ signature }: SignatureJob): SignatureCheck["scheme"] =>
  signature.length === SCHNORR_BYTES ? "schnorr" : "ecdsa";

/** Two minimal 33-byte integers and six bytes around them: nothing longer is strict DER. */
const MAX_SIGNATURE_BYTES = 72;

/** hash | scheme | length of the signature, 0 for one that is too long to be valid | signature | public key, as in native/signatures.c */
const SCHEME_AT = 32;
const LENGTH_AT = 33;
const SIGNATURE_AT = 34;
const PUBLIC_KEY_AT = SIGNATURE_AT + MAX_SIGNATURE_BYTES;
const ENTRY_BYTES = PUBLIC_KEY_AT + 33;

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

/** Gives a packed batch its verdicts: 1 for each valid signature, 0 for the others. */
export type PackedVerify = (packed: Uint8Array) => Uint8Array<ArrayBuffer>;

/** The verdicts of a packed batch, before they are given. */
export const verdictsFor = (packed: Uint8Array): Uint8Array<ArrayBuffer> =>
  new Uint8Array(packed.length / ENTRY_BYTES);

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
      const entry = packed.subarray(index * ENTRY_BYTES, (index + 1) * ENTRY_BYTES);
      const hash = entry.subarray(0, SCHEME_AT);
      const signature = entry.subarray(SIGNATURE_AT, SIGNATURE_AT + entry[LENGTH_AT]!);
      const publicKey = keyOf(entry.subarray(PUBLIC_KEY_AT));
      const verify = entry[SCHEME_AT] === 1 ? verifySchnorr : verifyEcdsa;
      verdicts[index] = verify(hash, signature, publicKey, backend) ? 1 : 0;
    }
    return verdicts;
  };
}

const textOf = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString("latin1");
