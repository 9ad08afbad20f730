/** The twelve operators (webhooks.md 6.3). */
import { numberText } from "../../platform/json/lossless.ts";
import type { Meter } from "./cost.ts";
import { compareDecimals, decimalOf, equals, readInterval } from "./operands.ts";
import { compilePattern } from "./pattern.ts";

/**
 * Returns whether a value fits; a missing value is `undefined`. Patterns spend their steps before they run.
 *
 * @throws {CostError} see `Meter`
 */
export type Test = (value: unknown, meter: Meter) => boolean;

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
