/** Digests composed of the primitives (identities.md 1). */
import { ripemd160, sha1, sha256, sha256Hex } from "#primitives";

export { ripemd160, sha1, sha256, sha256Hex };

/** SHA-256 applied twice: checksum of base58check. */
export const hash256 = (data: Uint8Array): Uint8Array => sha256(sha256(data));

/** RIPEMD-160 of SHA-256: only the salt of BIP38 uses it. */
export const hash160 = (data: Uint8Array): Uint8Array => ripemd160(sha256(data));
