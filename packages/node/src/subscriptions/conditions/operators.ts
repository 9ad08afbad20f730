/**
 * The twelve operators (webhooks.md 6.3), and their operands: decimal numbers of any length, which are compared exactly and in linear
 * time, equality, and intervals.
 */
import { numberText, parseJson } from "../../platform/json/lossless.ts";
import { OperandError } from "../subscription-error.ts";
import type { Meter } from "./cost.ts";
import { compilePattern } from "./pattern.ts";

/**
 * Returns whether a value fits; a missing value is `undefined`. Patterns spend their steps before they run.
 *
 * @throws {CostError} see `Meter`
 */
type Test = (value: unknown, meter: Meter) => boolean;

/**
 * Prepares the test against an operand, once for every webhook.
 *
 * @throws {OperandError} if the operand does not fit
 */
type Operator = (operand: unknown) => Test;

export const operators = {
  between,
  "not-between": (operand) => {
    const isBetween = between(operand);
    return (value, meter) => decimalOf(value) !== undefined && !isBetween(value, meter);
  },
  contains,
  eq: equals,
  ne: (operand) => not(equals(operand)),
  gt: ordering((order) => order > 0),
  gte: ordering((order) => order >= 0),
  lt: ordering((order) => order < 0),
  lte: ordering((order) => order <= 0),
  truthy: () => isTruthy,
  falsy: () => (value) => value !== undefined && !isTruthy(value),
  regexp: (operand) => {
    const pattern = compilePattern(operand);
    return (value, meter) => {
      const text = textOf(value);
      return text !== undefined && pattern.test(text, meter);
    };
  },
} satisfies Record<string, Operator>;

export type OperatorName = keyof typeof operators;

export const isOperatorName = (name: string): name is OperatorName => Object.hasOwn(operators, name);

/** Returns whether the operator needs no operand. */
export const isUnary = (name: OperatorName): boolean => name === "truthy" || name === "falsy";

/** Compiles an open interval, which is empty if `min` is above `max`. */
function between(operand: unknown): Test {
  const { min, max } = readInterval(operand);
  return (value) => {
    const number = decimalOf(value);
    return number !== undefined && compareDecimals(number, min) > 0 && compareDecimals(number, max) < 0;
  };
}

function contains(operand: unknown): Test {
  const text = textOf(operand);
  const isOperand = equals(operand);
  return (value) => {
    if (Array.isArray(value)) return value.some(isOperand);
    if (text === undefined) return false;
    if (typeof value === "string") return value.includes(text);
    return typeof value === "object" && value !== null && Object.hasOwn(value, text);
  };
}

/** Creates a comparison, which is false unless both values are plain decimal numbers. */
function ordering(accepts: (order: number) => boolean): Operator {
  return (operand) => {
    const other = decimalOf(operand);
    return (value) => {
      const number = other && decimalOf(value);
      return number !== undefined && accepts(compareDecimals(number, other as typeof number));
    };
  };
}

function not(test: Test): Test {
  return (value, meter) => !test(value, meter);
}

function isTruthy(value: unknown): boolean {
  return value === true || (typeof value === "string" && value.trim().toLowerCase() === "true");
}

/** Returns the text of a value, or undefined if it has none. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "boolean" ? String(value) : numberText(value);
}

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
function equals(operand: unknown): (value: unknown) => boolean {
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
