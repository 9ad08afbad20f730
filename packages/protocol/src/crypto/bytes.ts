/** Conversions between bytes and text. Hexadecimal is written in lower case. */
import { fromHex, toHex } from "#primitives";

const encoder = new TextEncoder();

/** UTF-8 bytes of a text, without any normalisation; a lone surrogate becomes `ef bf bd`. */
export const utf8ToBytes = (text: string): Uint8Array => encoder.encode(text);

/** Lower-case hexadecimal, two digits a byte. */
export const bytesToHex = (bytes: Uint8Array): string => toHex(bytes);

/**
 * Decodes a hexadecimal text of either letter case.
 *
 * @throws {RangeError} if the text has an odd length or a character that is not a hexadecimal digit
 */
export function hexToBytes(text: string): Uint8Array {
  const bytes = fromHex(text);
  if (2 * bytes.length !== text.length) {
    throw new RangeError("hexadecimal text must consist of pairs of the digits 0-9 and a-f");
  }
  return bytes;
}

/** The byte strings one after another. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}
