/** The addon that verifies packed signatures with libsecp256k1 (docs/guides/accelerator.md). The only file that knows of it. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type PackedVerify, packChecks, type SignatureCheck, verdictsFor } from "./packed-checks.ts";

/** Built by `packages/node/native/build.sh`, of which the sources lie beside it. */
const ADDON = `../../../native/${process.platform}-${process.arch}.node`;
/** Signatures with the verdicts of WebAssembly: to ask that itself would load all of it into each thread. */
const KNOWN = new URL("../../../native/known-verdicts.json", import.meta.url);

type Addon = {
  /** Writes 1 for each valid signature, 0 for the others. */
  verify(packed: Uint8Array, verdicts: Uint8Array): void;
};

/** A signature of the self-test of `@uniknode/protocol`, bytes as hexadecimal text. */
export type KnownVerdict = {
  readonly name: string;
  readonly scheme: SignatureCheck["scheme"];
  readonly hash: string;
  readonly signature: string;
  readonly publicKey: string;
  readonly isValid: boolean;
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
  const known = JSON.parse(readFileSync(KNOWN, "utf8")) as KnownVerdict[];
  const verdicts = verify(packChecks(known.map(checkOf)));
  const wrong = known.find(({ isValid }, index) => verdicts[index] !== Number(isValid));
  if (wrong) throw new Error(`the native verdict is wrong for ${wrong.name}`);
  return verify;
}

const checkOf = ({ scheme, hash, signature, publicKey }: KnownVerdict): SignatureCheck => ({
  scheme,
  hash: Buffer.from(hash, "hex"),
  signature: Buffer.from(signature, "hex"),
  publicKey: Buffer.from(publicKey, "hex"),
});
