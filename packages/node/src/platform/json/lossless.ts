/** JSON whose numbers keep their text, so that `9007199254740993` and `1.50` come back as they were given. */
import { type Complexity, exceededBound } from "./complexity.ts";

/** Of every text: the values of a large file, in about 100 MB of memory. What comes from outside has narrower bounds. */
export const TEXT_COMPLEXITY: Complexity = { maxDepth: 4_096, maxValues: 1_000_000 };

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
 * @throws {RangeError} when it exceeds TEXT_COMPLEXITY: found before anything of it is parsed
 */
export function parseJson(text: string): unknown {
  const exceeded = exceededBound(text, TEXT_COMPLEXITY);
  if (exceeded === "maxDepth") {
    throw new RangeError(`it has more than ${TEXT_COMPLEXITY.maxDepth} levels of objects and lists`);
  }
  if (exceeded === "maxValues") {
    throw new RangeError(`it has more than ${TEXT_COMPLEXITY.maxValues} values: split it`);
  }
  return lossless.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && String(value) !== source
      ? lossless.rawJSON(source)
      : value,
  );
}

/** The text of a JSON number, or nothing for another value. */
export function numberText(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return lossless.isRawJSON(value) ? value.rawJSON : undefined;
}
