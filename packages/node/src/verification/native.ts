/**
 * The addon that verifies packed signatures with libsecp256k1 (docs/guides/signatures.md). Only this file
 * depends on it.
 */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CodedError } from "../platform/coded-error.ts";
import { createCheckedFiles } from "../platform/files/checked-files.ts";
import { type PackedVerify, packChecks, type SignatureCheck, verdictsFor } from "./packed-checks.ts";

/** Folder of the addon, its sources, and `build.sh`, which builds it. */
const FOLDER = fileURLToPath(new URL("../../native/", import.meta.url));
const ADDON = `${process.platform}-${process.arch}.node`;
/**
 * Signatures with the verdicts of WebAssembly, recorded because computing them would load WebAssembly into
 * each thread.
 */
const KNOWN = "known-verdicts.json";

type Addon = {
  /** Writes 1 for each valid signature, 0 for the others. Ends the process if the table of a key and the library differ. */
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

/** The addon of this machine cannot be used. A retry fails until the installation has changed. */
export class NativeAddonError extends CodedError<"NATIVE_ADDON"> {
  readonly path: string;

  constructor(path: string, reason: string, options?: ErrorOptions) {
    super("NATIVE_ADDON", `failed to load the native addon ${path}: ${reason}`, {
      isRetryable: false,
      ...options,
    });
    this.path = path;
  }
}

/**
 * Loads the addon of this machine and requires the recorded verdict for every recorded signature. A file whose checksum
 * differs is not loaded: a damaged library ends the process when it is loaded or called.
 *
 * @param folder holds the addon, its recorded verdicts and their checksums
 * @returns undefined if the folder has no addon for this platform
 * @throws {NativeAddonError} if a file is missing, damaged or not loadable, or if a verdict differs
 */
export function loadNativeVerify(folder = FOLDER): PackedVerify | undefined {
  const path = join(folder, ADDON);
  try {
    const files = createCheckedFiles(folder);
    if (!files.has(ADDON)) return undefined;
    files.read(ADDON);
    const addon = { exports: {} };
    process.dlopen(addon, path);
    return provenVerify(addon.exports as Addon, JSON.parse(files.read(KNOWN).toString()) as KnownVerdict[]);
  } catch (cause) {
    const [reason = ""] = (cause as Error).message.split("\n");
    throw new NativeAddonError(path, reason, { cause });
  }
}

function provenVerify(addon: Addon, known: readonly KnownVerdict[]): PackedVerify {
  const verify: PackedVerify = (packed) => {
    const verdicts = verdictsFor(packed);
    addon.verify(packed, verdicts);
    return verdicts;
  };
  const packed = packChecks(known.map(checkOf));
  // Some keys recur: the second time, they have tables.
  for (const verdicts of [verify(packed), verify(packed)]) {
    const wrong = known.find(({ isValid }, index) => verdicts[index] !== Number(isValid));
    if (wrong) throw new Error(`its verdict is wrong for ${wrong.name}`);
  }
  return verify;
}

const checkOf = ({ scheme, hash, signature, publicKey }: KnownVerdict): SignatureCheck => ({
  scheme,
  hash: Buffer.from(hash, "hex"),
  signature: Buffer.from(signature, "hex"),
  publicKey: Buffer.from(publicKey, "hex"),
});
