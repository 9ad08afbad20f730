/** Tests of values from outside. Hexadecimal text is in lower case, so that equal values are equal texts. */

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isIntegerIn = (value: unknown, minimum: number, maximum: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum;

/** Returns true for 64 hexadecimal digits. */
export const isId = (value: unknown): value is string =>
  typeof value === "string" && value.length === 64 && /^[0-9a-f]{64}$/.test(value);

/** Returns true for the compressed form of a point; the point itself is not checked. */
export const isPublicKey = (value: unknown): value is string =>
  typeof value === "string" && value.length === 66 && /^0[23][0-9a-f]{64}$/.test(value);

/** Returns true for the digits of at least one byte, and of at most `maxBytes`. */
export const isHex = (value: unknown, maxBytes: number): value is string =>
  typeof value === "string" &&
  value.length <= 2 * maxBytes &&
  value.length % 2 === 0 &&
  // Pairs in the expression would cost twenty times as much.
  /^[0-9a-f]+$/.test(value);
