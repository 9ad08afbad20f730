/** Values of conditions: decimal numbers of any length, which are compared exactly and in linear time, equality, and intervals. */
import { numberText, parseJson } from "../../platform/json/lossless.ts";
import { OperandError } from "../error.ts";

/** `integer` has no leading zeros (empty for zero), `fraction` no trailing ones. Zero is not negative. */
export type Decimal = { readonly negative: boolean; readonly integer: string; readonly fraction: string };

const PLAIN = /^(-?)(\d+)(?:\.(\d+))?$/;
const JSON_NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Beyond the range of a double; keeps `1e999999999` from becoming a gigabyte of zeros. */
const MAX_EXPONENT = 400;

/** Parses a JSON number, or a text that is a plain decimal number; undefined for every other value. */
export function decimalOf(value: unknown): Decimal | undefined {
  const text = numberText(value);
  const match =
    text !== undefined ? JSON_NUMBER.exec(text) : typeof value === "string" ? PLAIN.exec(value) : null;
  if (!match) return undefined;
  const [, sign, whole = "", part = "", exponentText = "0"] = match;
  const exponent = Number(exponentText);
  if (Math.abs(exponent) > MAX_EXPONENT) return undefined;
  const point = whole.length + exponent;
  const digits = "0".repeat(Math.max(0, -point)) + whole + part + "0".repeat(Math.max(0, exponent));
  const integer = withoutLeadingZeros(digits.slice(0, Math.max(0, point)));
  const fraction = withoutTrailingZeros(digits.slice(Math.max(0, point)));
  return { negative: sign === "-" && integer + fraction !== "", integer, fraction };
}

/** Returns a negative number, zero or a positive number if `a` is below, equal to or above `b`. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  if (a.negative !== b.negative) return a.negative ? -1 : 1;
  const size =
    a.integer.length - b.integer.length ||
    compareTexts(a.integer, b.integer) ||
    compareTexts(a.fraction, b.fraction);
  return a.negative ? -size : size;
}

const compareTexts = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function withoutLeadingZeros(digits: string): string {
  let start = 0;
  while (digits[start] === "0") start++;
  return digits.slice(start);
}

function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  return digits.slice(0, end);
}

/** Returns a test for equality of a value of an event with the operand (webhooks.md 6.3, eq). */
export function equals(operand: unknown): (value: unknown) => boolean {
  const number = decimalOf(operand);
  const operandIsNumber = numberText(operand) !== undefined;
  const structure = structureOf(operand);
  return (value) => {
    if (value === undefined) return false;
    if (typeof value === "boolean") return operand === value || operand === String(value);
    if (typeof value === "object" && value !== null) return deepEquals(value, structure);
    const valueIsNumber = typeof value === "number";
    if (!valueIsNumber && !operandIsNumber) return value === operand;
    // One is a JSON number, the other is a JSON number or the text of a number.
    return number !== undefined && isSame(value, number);
  };

  function isSame(value: unknown, other: NonNullable<typeof number>): boolean {
    const decimal = decimalOf(value);
    return decimal !== undefined && compareDecimals(decimal, other) === 0;
  }
}

/** Returns the operand, or its parsed value if it is the JSON text of an object or array. */
export function structureOf(operand: unknown): unknown {
  if (typeof operand !== "string" || !/^\s*[[{]/.test(operand)) return operand;
  try {
    return parseJson(operand);
  } catch {
    return operand;
  }
}

function deepEquals(a: unknown, b: unknown): boolean {
  const [aText, bText] = [numberText(a), numberText(b)];
  if (aText !== undefined || bText !== undefined) {
    const [aNumber, bNumber] = [decimalOf(a), decimalOf(b)];
    if (aText === undefined || bText === undefined || !aNumber || !bNumber) return false;
    return compareDecimals(aNumber, bNumber) === 0;
  }
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [aEntries, bKeys] = [Object.entries(a), Object.keys(b)];
  const other = b as Record<string, unknown>;
  return (
    aEntries.length === bKeys.length &&
    aEntries.every(([key, value]) => Object.hasOwn(other, key) && deepEquals(value, other[key]))
  );
}

type Interval = { readonly min: Decimal; readonly max: Decimal };

/** `1,2` and `1..2`. */
const PAIR = /^\s*(-?\d+(?:\.\d+)?)\s*(?:,|\.\.)\s*(-?\d+(?:\.\d+)?)\s*$/;

/**
 * Reads the operand of between and not-between (webhooks.md 6.3): `{ min, max }`, its JSON text, `[min, max]`, `"min,max"` or `"min..max"`.
 *
 * @throws {OperandError} if the operand does not have two numbers
 */
export function readInterval(operand: unknown): Interval {
  const [min, max] = limitsOf(operand).map(decimalOf);
  if (!min || !max) throw new OperandError("must be an object with two numbers, min and max");
  return { min, max };
}

function limitsOf(operand: unknown): unknown[] {
  if (typeof operand === "string") {
    const pair = PAIR.exec(operand);
    if (pair) return pair.slice(1);
    try {
      const value = parseJson(operand);
      return typeof value === "string" ? [] : limitsOf(value);
    } catch {
      return [];
    }
  }
  if (Array.isArray(operand)) return operand.length === 2 ? operand : [];
  if (typeof operand !== "object" || operand === null) return [];
  const { min, max } = operand as { min?: unknown; max?: unknown };
  return [min, max];
}
