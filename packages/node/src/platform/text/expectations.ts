/** Messages about unexpected values: the same words for the same kind of value everywhere. */
import { mostSimilar } from "./similar.ts";

/** Follows the name of the member, as in `"limit" must be an integer from 1 to 100`. */
export const mustBe = (what: string): string => `must be ${what}`;

export const REQUIRED = "is required";
export const ONCE = "must be given once";

/** @param known names of the members that there are */
export function notAllowed(name: string, known: readonly string[] = []): string {
  if (known.length === 0) return "is not allowed";
  const suggestion = mostSimilar(name, known);
  const hint = suggestion === undefined ? "" : `; did you mean "${suggestion}"?`;
  return `is not allowed${hint || `; allowed: ${known.join(", ")}`}`;
}

export const integer = (minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER): string =>
  `an integer from ${numberText(minimum)} to ${numberText(maximum)}`;

export const oneOf = (words: readonly string[]): string =>
  words.length === 1 ? words.join() : `one of ${[...new Set(words)].join(", ")}`;

export const BOOLEAN = "true or false";

export const items = (minimum = 0, maximum?: number): string =>
  maximum === undefined
    ? `must have at least ${minimum} items`
    : `must have from ${minimum} to ${maximum} items`;

const TYPES: Readonly<Record<string, string>> = {
  array: "an array",
  boolean: BOOLEAN,
  number: "a number",
  object: "an object",
  string: "a string",
};

/** @param type of JSON schema */
export const typeName = (type: string): string => TYPES[type] ?? type;

function numberText(value: number): string {
  if (value === Number.MAX_SAFE_INTEGER) return "2^53 - 1";
  return value === Number.MIN_SAFE_INTEGER ? "-(2^53 - 1)" : `${value}`;
}
