/**
 * Members whose inner type no schema checks (transactions.md 9). The encoder of the old node accepts an
 * array as bytes; this decides the error of such input.
 */
import { fromHex } from "#primitives";
import { utf8ToBytes } from "../../crypto/bytes.ts";

/**
 * UTF-8 bytes of a value that should be a text.
 *
 * @throws {TypeError} on anything but a text or an array
 */
export const untypedText = (value: unknown): Uint8Array =>
  typeof value === "string" ? utf8ToBytes(value) : arrayBytes(value);

/**
 * Bytes of a value that should be hexadecimal text, up to its first pair of other characters; their number
 * is not checked.
 *
 * @throws {TypeError} on a text of odd length, and on anything but a text or an array
 */
export function untypedHex(value: unknown): Uint8Array {
  if (typeof value !== "string") return arrayBytes(value);
  if (value.length % 2 !== 0) throw new TypeError("hexadecimal text must have an even number of digits");
  return fromHex(value);
}

/**
 * A value that should be an integer.
 *
 * @throws {TypeError} if it is none
 */
export function untypedInteger(value: unknown): number {
  if (!Number.isInteger(value)) throw new TypeError("an integer was expected");
  return value as number;
}

function arrayBytes(value: unknown): Uint8Array {
  if (!Array.isArray(value)) throw new TypeError("a text was expected");
  return Uint8Array.from(value, Number);
}
