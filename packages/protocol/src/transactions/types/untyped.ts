/**
 * Encodes members whose inner type no schema checks (transactions.md 9). The encoder of the old node accepts an
 * array as bytes; this determines the error of such input. `name` is the name of the member in errors.
 */
import { fromHex } from "#primitives";
import { utf8ToBytes } from "../../crypto/bytes.ts";

/**
 * Returns the UTF-8 bytes of a value that should be a text.
 *
 * @throws {TypeError} on anything but a text or an array
 */
export const untypedText = (value: unknown, name: string): Uint8Array =>
  typeof value === "string" ? utf8ToBytes(value) : arrayBytes(value, name);

/**
 * Returns the bytes of a value that should be hexadecimal text, up to its first pair of other characters; their
 * number is not checked.
 *
 * @throws {TypeError} on a text of odd length, and on anything but a text or an array
 */
export function untypedHex(value: unknown, name: string): Uint8Array {
  if (typeof value !== "string") return arrayBytes(value, name);
  if (value.length % 2 !== 0) throw new TypeError(`${name} must have an even number of hexadecimal digits`);
  return fromHex(value);
}

/**
 * Returns a value that should be an integer.
 *
 * @throws {TypeError} if it is not an integer
 */
export function untypedInteger(value: unknown, name: string): number {
  if (!Number.isInteger(value)) throw new TypeError(`${name} must be an integer`);
  return value as number;
}

function arrayBytes(value: unknown, name: string): Uint8Array {
  if (!Array.isArray(value)) throw new TypeError(`${name} must be a text`);
  return Uint8Array.from(value, Number);
}
