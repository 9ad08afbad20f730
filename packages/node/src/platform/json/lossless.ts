/** JSON whose numbers keep their text, such as `9007199254740993` and `1.50`, and the JSON form of amounts. */
import { type Complexity, exceededBound } from "./external.ts";

/** Bounds of every text: a large file, about 100 MB of memory once parsed. Requests have narrower bounds. */
export const TEXT_COMPLEXITY: Complexity = { maxDepth: 4_096, maxValues: 1_000_000 };

/** A number that JavaScript would write differently. */
type RawNumber = { readonly rawJSON: string };

type LosslessJson = {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
};

// The pinned runtime has these functions; the type library does not yet.
const lossless = JSON as unknown as LosslessJson;

/**
 * Parses a JSON text such that `JSON.stringify` writes every number unchanged.
 *
 * @throws {SyntaxError} when the text is not JSON
 * @throws {RangeError} when it exceeds TEXT_COMPLEXITY; checked before parsing
 */
export function parseJson(text: string): unknown {
  const exceeded = exceededBound(text, TEXT_COMPLEXITY);
  if (exceeded === "maxDepth") {
    throw new RangeError(`it has more than ${TEXT_COMPLEXITY.maxDepth} nested levels`);
  }
  if (exceeded === "maxValues") {
    throw new RangeError(`it has more than ${TEXT_COMPLEXITY.maxValues} values: split the file`);
  }
  return lossless.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && String(value) !== source
      ? lossless.rawJSON(source)
      : value,
  );
}

/**
 * Returns the JSON text of a value that `JSON.parse` returned, such that `JSON.parse` returns the same value again:
 * `JSON.stringify` writes `-0` as `0`, and numbers beyond the range, such as `1e999`, as `null`.
 */
export const exactText = (value: unknown): string =>
  JSON.stringify(value, (_key, member) => (typeof member === "number" ? exactNumber(member) : member));

function exactNumber(value: number): number | RawNumber {
  if (Object.is(value, -0)) return lossless.rawJSON("-0");
  return Number.isFinite(value) ? value : lossless.rawJSON(value > 0 ? "1e999" : "-1e999");
}

/** Returns the text of a JSON number; undefined for other values. */
export function numberText(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return lossless.isRawJSON(value) ? value.rawJSON : undefined;
}

/** A type with its `bigint` members as decimal text. */
export type Json<T> = T extends bigint ? string : T extends object ? { [K in keyof T]: Json<T[K]> } : T;
