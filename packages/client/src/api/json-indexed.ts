/**
 * The same for runtimes whose `JSON` does not expose the digits of a number (Node.js 20): each number of the text is replaced
 * by its position in a table of all numbers, so that no value can be mistaken for another.
 */

/** Escaped characters, the ends of strings, and numbers. A pattern for whole strings would run out of stack in long ones. */
const TOKEN = /\\.|"|-?\d[\d.eE+-]*/g;
const INTEGER = /^-?\d+$/;

/** The value of a JSON number: a `bigint` if it is an integer that a number would round. */
export function numberOf(token: string): number | bigint {
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

/** The text of a value in which there may be a `bigint`. */
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
