/** JSON whose integers keep all their digits: those beyond 2^53 are read as `bigint`, and written as JSON integers. */

// Part of every supported runtime; the compiler's library does not list them yet.
type Source = { readonly source?: string };
type Reviver = (name: string, value: unknown, context: Source) => unknown;
const { parse, rawJSON } = JSON as unknown as {
  parse(text: string, reviver: Reviver): unknown;
  rawJSON(text: string): unknown;
};

/** A number of so many digits; or a part of a text, in which case a value is checked in vain. */
const LONG_NUMBER = /(^|[:[,])\s*-?\d{16}/;
const INTEGER = /^-?\d+$/;

/** @throws {SyntaxError} */
export const parseJson = (text: string): unknown =>
  // Calling a function for each value takes longer than parsing all of them.
  LONG_NUMBER.test(text) ? parse(text, withAllDigits) : JSON.parse(text);

function withAllDigits(_name: string, value: unknown, { source = "" }: Source): unknown {
  const isRounded = typeof value === "number" && !Number.isSafeInteger(value) && INTEGER.test(source);
  return isRounded ? BigInt(source) : value;
}

/** The text of a value in which there may be a `bigint`. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, (_name, member) => (typeof member === "bigint" ? rawJSON(`${member}`) : member));
