/** The operand of between and not-between: two numbers in one of five forms (webhooks.md 6.3). */
import { parseJson } from "../../platform/json/lossless.ts";
import { OperandError } from "../error.ts";
import { type Decimal, decimalOf } from "./decimal.ts";

export type Interval = { readonly min: Decimal; readonly max: Decimal };

/** `1,2` and `1..2`. */
const PAIR = /^\s*(-?\d+(?:\.\d+)?)\s*(?:,|\.\.)\s*(-?\d+(?:\.\d+)?)\s*$/;

/**
 * Reads `{ min, max }`, its JSON text, `[min, max]`, `"min,max"` or `"min..max"`.
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
