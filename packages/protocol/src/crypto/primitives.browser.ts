/** The digests of `primitives.node.ts` for a browser, where `node:crypto` is absent. */
export { ripemd160, sha1 } from "@noble/hashes/legacy.js";
export { sha256 } from "@noble/hashes/sha2.js";
