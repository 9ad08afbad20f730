/** The curve where Node.js runs. */
import { secp256k1Base64Bytes } from "@bitauth/libauth/build/lib/bin/secp256k1/secp256k1.base64.js";
import { instantiateSecp256k1Bytes } from "@bitauth/libauth/build/lib/crypto/secp256k1.js";

/**
 * The parts of the curve that this package uses; it returns a text instead of bytes to report which value is
 * out of range.
 */
export type Curve = Pick<
  Awaited<ReturnType<typeof instantiateSecp256k1Bytes>>,
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

// The library would decode its code in JavaScript, which takes 4 ms.
const code = Buffer.from(secp256k1Base64Bytes, "base64");

/** libsecp256k1 as WebAssembly; one instance per thread. */
export const curve = await instantiateSecp256k1Bytes(new Uint8Array(code).buffer);
