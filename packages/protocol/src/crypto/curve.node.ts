/** The curve where Node.js runs. */
import { instantiateSecp256k1 } from "@bitauth/libauth/build/lib/crypto/secp256k1.js";

/**
 * The parts of the curve that this package uses; it returns a text instead of bytes to report which value is
 * out of range.
 */
export type Curve = Pick<
  Awaited<ReturnType<typeof instantiateSecp256k1>>,
  | "validatePrivateKey"
  | "derivePublicKeyCompressed"
  | "derivePublicKeyUncompressed"
  | "uncompressPublicKey"
  | "addTweakPrivateKey"
  | "mulTweakPrivateKey"
  | "signMessageHashDER"
  | "verifySignatureDERLowS"
  | "verifySignatureSchnorr"
>;

/** Readable name of the implementation and how it runs. */
export const name = "libauth (WebAssembly)";

/** libsecp256k1 as WebAssembly; one instance per thread. */
export const curve = await instantiateSecp256k1();
