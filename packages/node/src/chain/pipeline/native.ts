/** The addon that verifies packed signatures with libsecp256k1 (docs/guides/accelerator.md). The only file that knows of it. */
import { createRequire } from "node:module";
import {
  defaultSignatureBackend,
  disagreementOf,
  type SignatureBackend,
  verifyEcdsa,
  verifySchnorr,
} from "@uniknode/protocol";
import { type PackedVerify, packChecks, type SignatureCheck, verdictsFor } from "./signatures.ts";

/** Built by `packages/node/native/build.sh`, of which the sources lie beside it. */
const ADDON = `../../../native/${process.platform}-${process.arch}.node`;

type Addon = {
  /** Writes 1 for each valid signature, 0 for the others. */
  verify(packed: Uint8Array, verdicts: Uint8Array): void;
};

/**
 * Loads the addon of this machine and lets it prove itself.
 *
 * @returns undefined where there is no addon for this machine
 * @throws {Error} when its verdicts are not those of the default
 */
export function loadNativeVerify(path = ADDON): PackedVerify | undefined {
  let addon: Addon;
  try {
    addon = createRequire(import.meta.url)(path) as Addon;
  } catch {
    return undefined;
  }
  const verify: PackedVerify = (packed) => {
    const verdicts = verdictsFor(packed);
    addon.verify(packed, verdicts);
    return verdicts;
  };
  const disagreement = disagreementOf(backendOf(verify));
  if (disagreement) throw new Error(`the native verdict is wrong for ${disagreement}`);
  return verify;
}

const PUBLIC_KEY_BYTES = 33;

/** One signature at a time. Packed keys are compressed ones: others are left to the default. */
const backendOf = (verifyPacked: PackedVerify): SignatureBackend => {
  const by =
    (scheme: SignatureCheck["scheme"]): SignatureBackend["verifyEcdsa"] =>
    (hash, signature, publicKey) => {
      if (publicKey.length !== PUBLIC_KEY_BYTES) {
        const verify = scheme === "ecdsa" ? verifyEcdsa : verifySchnorr;
        return verify(hash, signature, publicKey, defaultSignatureBackend);
      }
      return verifyPacked(packChecks([{ scheme, hash, signature, publicKey }]))[0] === 1;
    };
  return { name: "native", verifyEcdsa: by("ecdsa"), verifySchnorr: by("schnorr") };
};
