/** The curve. The backend that verifies may be replaced: see `backend.ts`. */
export { curve as backend, name } from "#curve";

/** Order of the group, `n`. */
export const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** Prime of the field, `p`. */
export const FIELD_PRIME = 0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2fn;
