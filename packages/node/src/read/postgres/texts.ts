/**
 * Texts that PostgreSQL does not store as they are: its text cannot contain U+0000, so that such texts are stored as bytes, and `jsonb`
 * refuses U+0000 and lone surrogates. No stored text contains a lone surrogate. For `jsonb`, U+0000 is written as U+0001 and a digit, and
 * U+0001 itself with another digit, so that different texts stay different.
 */

export const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString();
export const textOrNull = (bytes: Uint8Array | null): string | null => bytes && textOf(bytes);
export const bytesOf = (text: string): Uint8Array => Buffer.from(text);

/**
 * Escape sequences of stored texts, and their replacements. Escaped backslashes come first, so that a sequence after
 * one is not replaced.
 */
const ESCAPES: readonly (readonly [text: string, other: string])[] = [
  ["\\\\", "\\u005c"],
  ["\\u0001", "\\u00011"],
  ["\\u0000", "\\u00010"],
];

/** Returns SQL that converts a column with JSON text to `jsonb`. */
export const jsonOf = (column: string): string =>
  `${ESCAPES.reduce((sql, [text, other]) => `replace(${sql}, '${text}', '${other}')`, column)}::jsonb`;

/** Returns the text of a value for the comparison with such a column; undefined if no column can contain it. */
export function jsonText(value: object): string | undefined {
  const text = ESCAPES.reduce((json, [text, other]) => json.replaceAll(text, other), JSON.stringify(value));
  // The only other escapes of four digits are control characters and lone surrogates.
  return /\\ud[89a-f]/.test(text) ? undefined : text;
}
