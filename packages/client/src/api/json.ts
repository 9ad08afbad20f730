/**
 * JSON whose integers keep all digits: integers beyond 2^53 are read as `bigint`, and written as JSON integers.
 *
 * A runtime whose `JSON` does not expose the digits of a number (Node.js 20) needs the functions `...Indexed`: they replace each number of
 * the text by its position in a table of all numbers, so that no value can be mistaken for another.
 */

/** Escaped characters, the ends of strings, and numbers. A pattern for whole strings would run out of stack in long ones. */
const TOKEN = /\\.|"|-?\d[\d.eE+-]*/g;
const INTEGER = /^-?\d+$/;

/** Returns the value of a JSON number: a `bigint` if it is an integer that a number would round. */
function numberOf(token: string): number | bigint {
  const value = Number(token);
  return !Number.isSafeInteger(value) && INTEGER.test(token) ? BigInt(token) : value;
}

/** @throws {SyntaxError} */
export function parseIndexed(text: string): unknown {
  // Rejects invalid JSON: the replacement below would turn some of it into JSON.
  JSON.parse(text);
  const numbers: (number | bigint)[] = [];
  const indexed = replaceNumbers(text, (token) => `${numbers.push(numberOf(token)) - 1}`);
  return JSON.parse(indexed, (_name, value) => (typeof value === "number" ? numbers[value] : value));
}

/** Returns the text of a value in which there may be a `bigint`. */
export function textIndexed(value: unknown): string {
  const texts: string[] = [];
  const indexed = JSON.stringify(value, (_name, member) => {
    const number = member instanceof Number ? Number(member) : member;
    if (typeof number !== "number" && typeof number !== "bigint") return member;
    return texts.push(typeof number === "bigint" ? `${number}` : JSON.stringify(number)) - 1;
  });
  // Undefined and functions have no text.
  return indexed === undefined ? indexed : replaceNumbers(indexed, (index) => `${texts[Number(index)]}`);
}

/** @param text valid JSON, so that a match outside of strings is a number */
function replaceNumbers(text: string, replace: (token: string) => string): string {
  let isInString = false;
  return text.replaceAll(TOKEN, (token) => {
    if (token === '"') isInString = !isInString;
    return isInString || /^["\\]/.test(token) ? token : replace(token);
  });
}

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

/** Returns the text of a value in which there may be a `bigint`. */
export const jsonText = (value: unknown): string =>
  rawJSON
    ? JSON.stringify(value, (_name, member) => (typeof member === "bigint" ? rawJSON(`${member}`) : member))
    : textIndexed(value);
