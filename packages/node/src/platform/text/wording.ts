/**
 * Wording of messages about unexpected values: the same words for the same kind of value everywhere, the known names that a
 * misspelt name probably meant, and counts with their noun.
 */

/** Follows the name of the member, as in `"limit" must be an integer from 1 to 100`. */
export const mustBe = (what: string): string => `must be ${what}`;

export const REQUIRED = "is required";
export const ONCE = "must be given once";

/** @param known names of the allowed members */
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

/** Number of characters that are compared. */
const MAX_LENGTH = 64;

/** Returns the most similar of the known names; undefined if none is similar enough to be meant. */
export const mostSimilar = (name: string, known: readonly string[]): string | undefined =>
  similarNames(name, known)[0];

/** Returns the known names that are similar enough to be meant, the most similar first. */
export function similarNames(name: string, known: readonly string[]): string[] {
  const wanted = name.slice(0, MAX_LENGTH).toLowerCase();
  // A third of the letters may be wrong.
  const maxDistance = Math.ceil(wanted.length / 3);
  return known
    .map((name) => ({ name, distance: editDistance(wanted, name.slice(0, MAX_LENGTH).toLowerCase()) }))
    .filter(({ distance }) => distance <= maxDistance)
    .sort((a, b) => a.distance - b.distance)
    .map(({ name }) => name);
}

/** Counts the characters to insert, delete, replace, or swap with their neighbour, until the texts are the same. */
function editDistance(left: string, right: string): number {
  let [beforeLast, last]: [readonly number[], readonly number[]] = [
    [],
    Array.from({ length: right.length + 1 }, (_, index) => index),
  ];
  for (let row = 1; row <= left.length; row++) {
    let distance = row;
    const current = [distance];
    for (let column = 1; column <= right.length; column++) {
      const isSame = left[row - 1] === right[column - 1];
      const isSwapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      distance = Math.min(
        at(last, column) + 1,
        distance + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
        isSwapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
      current.push(distance);
    }
    [beforeLast, last] = [last, current];
  }
  return at(last, right.length);
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY;

/** Formats a count with its noun, given in the plural: `1 transaction`, `2 deliveries`. */
export const countOf = (count: number, plural: string): string =>
  `${count} ${count === 1 ? plural.replace(/ies$/, "y").replace(/s$/, "") : plural}`;
