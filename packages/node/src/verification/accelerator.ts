/**
 * The optional accelerator of signatures: bcrypto with its native libsecp256k1, which the user installs and
 * configures (docs/guides/accelerator.md). Only this file depends on it.
 */

import { createRequire } from "node:module";
import { isAbsolute, resolve } from "node:path";
import { disagreementOf, type SignatureBackend } from "@uniknode/protocol";
import { CodedError } from "../platform/coded-error.ts";

/** Releases whose verdicts were compared for recorded and random signatures. */
const KNOWN_VERSIONS = ["5.2.0", "5.5.2"];
/** The library's number for libsecp256k1. Its other implementations are slower, or not based on libsecp256k1. */
const LIBSECP256K1 = 2;

/** The requested accelerator cannot be used. A retry fails until the installation changes. */
export class AcceleratorError extends CodedError<"ACCELERATOR"> {
  readonly source: string;

  constructor(source: string, reason: string, options?: ErrorOptions) {
    const message = `failed to load the signature accelerator "${source}": ${reason}`;
    super("ACCELERATOR", message, { isRetryable: false, ...options });
    this.source = source;
  }
}

/**
 * Loads the accelerator and runs its self-test.
 *
 * @param source name of the package, or path of its folder, which is absolute or begins with a dot
 * @throws {AcceleratorError} if it is missing, unknown or not native, or if its verdicts differ from those of
 * the default
 */
export function loadAccelerator(source: string): SignatureBackend {
  const { version, library } = read(source);
  if (!KNOWN_VERSIONS.includes(version)) {
    throw new AcceleratorError(source, `version ${version} is not among ${KNOWN_VERSIONS.join(", ")}`);
  }
  if (library.native !== LIBSECP256K1)
    throw new AcceleratorError(source, "the package is not the native build");
  const backend = backendOf(library, `bcrypto ${version} (native)`);
  const disagreement = disagreementOf(backend);
  if (disagreement) throw new AcceleratorError(source, `its verdict is wrong for ${disagreement}`);
  return backend;
}

/** The functions of the package that are used. They accept only buffers. */
type Library = {
  readonly native: number;
  isLowDER(signature: Buffer): boolean;
  verifyDER(hash: Buffer, signature: Buffer, publicKey: Buffer): boolean;
  schnorrVerify(hash: Buffer, signature: Buffer, publicKey: Buffer): boolean;
};

function read(source: string): { version: string; library: Library } {
  const require = createRequire(import.meta.url);
  const folder = source.startsWith(".") || isAbsolute(source) ? resolve(source) : source;
  try {
    const { version } = require(`${folder}/package.json`) as { version: string };
    // Only this module: the whole package would load every cipher and curve.
    return { version, library: require(`${folder}/lib/secp256k1.js`) as Library };
  } catch (cause) {
    const [reason = ""] = (cause as Error).message.split("\n");
    throw new AcceleratorError(source, reason, { cause });
  }
}

const backendOf = (library: Library, name: string): SignatureBackend => ({
  name,
  // The library itself accepts a high s as if it were the low one.
  verifyEcdsa: (hash, signature, publicKey) =>
    library.isLowDER(bufferOf(signature)) &&
    library.verifyDER(bufferOf(hash), bufferOf(signature), bufferOf(publicKey)),
  verifySchnorr: (hash, signature, publicKey) =>
    library.schnorrVerify(bufferOf(hash), bufferOf(signature), bufferOf(publicKey)),
});

/** Shares the memory of the bytes. */
const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
