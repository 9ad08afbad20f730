/** JSON whose numbers keep their text, so that `9007199254740993` and `1.50` come back as they were given. */

/** A number that the language would have written otherwise. */
export type RawNumber = { readonly rawJSON: string };

type LosslessJson = {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
};

// Part of the language of the pinned runtime, newer than the type library.
const lossless = JSON as unknown as LosslessJson;

/**
 * The value of a JSON text. `JSON.stringify` gives every number back as it was written.
 *
 * @throws {SyntaxError} when the text is no JSON
 * @throws {RangeError} when it is nested too deeply
 */
export const parseJson = (text: string): unknown =>
  lossless.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && String(value) !== source
      ? lossless.rawJSON(source)
      : value,
  );

/** The text of a JSON number, or nothing for another value. */
export function numberText(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return lossless.isRawJSON(value) ? value.rawJSON : undefined;
}
