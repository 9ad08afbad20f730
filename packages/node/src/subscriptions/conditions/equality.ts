/** Equality of a value of an event and the operand of a condition (webhooks.md 6.3, eq). */
import { numberText, parseJson } from "../../platform/json/lossless.ts";
import { compareDecimals, decimalOf } from "./decimal.ts";

/** Returns a test for equality with the operand. */
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
