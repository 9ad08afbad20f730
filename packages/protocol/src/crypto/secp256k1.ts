/** The only module that imports the library of the curve. The verifying backend may be replaced: see `backend.ts`. */
import { instantiateSecp256k1 } from "@bitauth/libauth/build/lib/crypto/secp256k1.js";

/** libsecp256k1 as WebAssembly; one instance per thread. */
export const backend = await instantiateSecp256k1();

/** Order of the group, `n`. */
export const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** Prime of the field, `p`. */
export const FIELD_PRIME = 0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2fn;
