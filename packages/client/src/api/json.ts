/** JSON whose integers keep all digits: integers beyond 2^53 are read as `bigint`, and written as JSON integers. */
import { numberOf, parseIndexed, textIndexed } from "./json-indexed.ts";

// The compiler's library does not list them yet.
type Context = { readonly source?: string } | undefined;
type Reviver = (name: string, value: unknown, context: Context) => unknown;
const { parse, rawJSON } = JSON as unknown as {
  parse(text: string, reviver: Reviver): unknown;
  rawJSON?(text: string): unknown;
};

/** Node.js from 21 on; Chrome from 114, Firefox from 135, Safari from 18.4 on. */
const hasSource = parse("1", (_name, _value, context) => context?.source) === "1";

/** Matches a long number; may match inside a string, which only costs an extra check. */
const LONG_NUMBER = /(^|[:[,])\s*-?\d{16}/;

/** @throws {SyntaxError} */
export function parseJson(text: string): unknown {
  // Calling a function for each value costs more than parsing all of them.
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  return hasSource ? parse(text, withAllDigits) : parseIndexed(text);
}

const withAllDigits: Reviver = (_name, value, context) =>
  typeof value === "number" && !Number.isSafeInteger(value) ? numberOf(context?.source ?? "") : value;

/** The text of a value in which there may be a `bigint`. */
export const jsonText = (value: unknown): string =>
  rawJSON
    ? JSON.stringify(value, (_name, member) => (typeof member === "bigint" ? rawJSON(`${member}`) : member))
    : textIndexed(value);
