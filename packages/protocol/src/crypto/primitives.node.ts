/** Digests by the built-in implementation of Node.js (identities.md section 1). */
import { createHash, hash } from "node:crypto";

/** SHA-256 of the bytes: 32 bytes. */
export const sha256 = (data: Uint8Array): Uint8Array => hash("sha256", data, "buffer");

/** RIPEMD-160 of the bytes: 20 bytes. */
export const ripemd160 = (data: Uint8Array): Uint8Array => createHash("ripemd160").update(data).digest();

/** SHA-1 of the bytes: 20 bytes. Exposed for completeness; the protocol does not use it. */
export const sha1 = (data: Uint8Array): Uint8Array => hash("sha1", data, "buffer");
