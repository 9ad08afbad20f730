/** The curve. The backend that verifies may be replaced: see `native.ts`. */
export { curve as backend, name } from "#curve";

/** Order of the group, `n`. */
export const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/**
 * The bytes that the backend computed; it returns a text instead if a scalar is out of range.
 *
 * @throws {RangeError}
 */
export function requireBytes(result: Uint8Array | string): Uint8Array {
  if (typeof result === "string") throw new RangeError(result);
  return result;
}

/** Prime of the field, `p`. */
export const FIELD_PRIME = 0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2fn;
