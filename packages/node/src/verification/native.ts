/**
 * libsecp256k1 as compiled code that verifies packed signatures: the addon of this machine, and the module for
 * WebAssembly (docs/guides/signatures.md). Only this file depends on them. It selects the first that works.
 */

import { writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CodedError } from "../platform/coded-error.ts";
import { CheckedFiles } from "../platform/files/checked-files.ts";
import {
  ENTRY_BYTES,
  type PackedVerify,
  packChecks,
  type SignatureCheck,
  verdictsFor,
} from "./packed-checks.ts";

/** Folder of both files, their sources, and `build.sh`, which builds them. */
const FOLDER = fileURLToPath(new URL("../../native", import.meta.url));
const ADDON = `${process.platform}-${process.arch}.node`;
const MODULE = "signatures.wasm";
/** Signatures with the verdicts of libauth, recorded because computing them would load libauth into each thread. */
const KNOWN = "known-verdicts.json";

type Addon = {
  /** Writes 1 for each valid signature, 0 for the others. Ends the process if the table of a key and the library differ. */
  verify(packed: Uint8Array, verdicts: Uint8Array): void;
};

/** An instance of native/web-assembly.c. */
type Instance = {
  readonly memory: { readonly buffer: ArrayBuffer };
  _initialize(): void;
  buffer(): number;
  verify(count: number): number;
};
/** Largest number of signatures of a call. The buffer has their entries, and then their verdicts. */
const MAX_CALL = 128;

declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
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

/** Compiled code cannot be used. A retry fails until the installation has changed. */
export class CompiledCodeError extends CodedError<"COMPILED_CODE"> {
  readonly path: string;

  constructor(path: string, reason: string, options?: ErrorOptions) {
    super("COMPILED_CODE", `failed to load libsecp256k1 from ${path}: ${reason}`, {
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
 * @throws {CompiledCodeError} if a file is missing, damaged or not loadable, or if a verdict differs
 */
export const loadNativeVerify = (folder = FOLDER): PackedVerify | undefined =>
  loadProven<PackedVerify | undefined>(folder, ADDON, (files) => {
    if (!files.has(ADDON)) return undefined;
    files.read(ADDON);
    const loaded = { exports: {} };
    process.dlopen(loaded, join(folder, ADDON));
    const addon = loaded.exports as Addon;
    return (packed) => {
      const verdicts = verdictsFor(packed);
      addon.verify(packed, verdicts);
      return verdicts;
    };
  });

/**
 * Instantiates the module for WebAssembly, which runs everywhere, and requires the recorded verdicts. Each call has tables of its
 * own, of up to 32 MB.
 *
 * @throws {CompiledCodeError} as `loadNativeVerify`
 */
export const loadWebAssemblyVerify = (folder = FOLDER): PackedVerify =>
  loadProven<PackedVerify>(folder, MODULE, (files) => {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(files.read(MODULE)));
    const instance = exports as Instance;
    instance._initialize();
    return (packed) => verifyWith(instance, packed);
  });

function verifyWith({ memory, buffer, verify }: Instance, packed: Uint8Array): Uint8Array<ArrayBuffer> {
  const verdicts = verdictsFor(packed);
  const entriesAt = buffer();
  const verdictsAt = entriesAt + MAX_CALL * ENTRY_BYTES;
  for (let done = 0; done < verdicts.length; done += MAX_CALL) {
    const count = Math.min(MAX_CALL, verdicts.length - done);
    const entries = packed.subarray(done * ENTRY_BYTES, (done + count) * ENTRY_BYTES);
    new Uint8Array(memory.buffer).set(entries, entriesAt);
    if (verify(count) === 0) endProcess();
    // The memory may have grown, which replaces its buffer.
    verdicts.set(new Uint8Array(memory.buffer, verdictsAt, count), done);
  }
  return verdicts;
}

/** No caller can go on with verdicts that others may not share. A thread can end its process with a signal only. */
function endProcess(): never {
  const reason = "the table of a key and libsecp256k1 differ about a signature";
  writeSync(2, `uniknode signatures: ${reason}\n`);
  process.kill(process.pid, "SIGKILL");
  throw new Error(reason);
}

function loadProven<Verify extends PackedVerify | undefined>(
  folder: string,
  name: string,
  load: (files: CheckedFiles) => Verify,
): Verify {
  try {
    const files = new CheckedFiles(folder);
    const verify = load(files);
    if (verify) prove(verify, JSON.parse(files.read(KNOWN).toString()) as KnownVerdict[]);
    return verify;
  } catch (cause) {
    const [reason = ""] = (cause as Error).message.split("\n");
    throw new CompiledCodeError(join(folder, name), reason, { cause });
  }
}

/** @throws {Error} if a verdict is wrong */
function prove(verify: PackedVerify, known: readonly KnownVerdict[]): void {
  const packed = packChecks(known.map(checkOf));
  // Some keys recur: the second time, they have tables.
  for (const verdicts of [verify(packed), verify(packed)]) {
    const wrong = known.find(({ isValid }, index) => verdicts[index] !== Number(isValid));
    if (wrong) throw new Error(`its verdict is wrong for ${wrong.name}`);
  }
}

const checkOf = ({ scheme, hash, signature, publicKey }: KnownVerdict): SignatureCheck => ({
  scheme,
  hash: Buffer.from(hash, "hex"),
  signature: Buffer.from(signature, "hex"),
  publicKey: Buffer.from(publicKey, "hex"),
});

type SelectedBackend = {
  /** Name of the implementation, for logs. */
  readonly name: string;
  readonly verify: PackedVerify;
  /** The reason why a faster implementation of this machine is not used. */
  readonly refusal?: Error;
};

/** From the fastest on. */
const COMPILED = [
  { name: "libsecp256k1 (native)", load: loadNativeVerify },
  { name: "libsecp256k1 (WebAssembly)", load: loadWebAssemblyVerify },
] as const;

/** The first that this machine has and that passes its self-test; otherwise libauth, which is loaded only then. */
export async function selectBackend(): Promise<SelectedBackend> {
  let refused: { readonly refusal?: Error } = {};
  for (const { name, load } of COMPILED) {
    try {
      const verify = load();
      if (verify) return { name, verify, ...refused };
    } catch (error) {
      refused = { refusal: error as Error, ...refused };
    }
  }
  return { ...(await loadLibauth()), ...refused };
}

async function loadLibauth(): Promise<SelectedBackend> {
  const [{ defaultSignatureBackend }, { createPackedVerify }] = await Promise.all([
    import("@uniknode/protocol"),
    import("./packed-verify.ts"),
  ]);
  return { name: defaultSignatureBackend.name, verify: createPackedVerify() };
}
