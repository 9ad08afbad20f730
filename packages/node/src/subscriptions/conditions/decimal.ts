/** Decimal numbers of any length, compared exactly and in linear time. */
import { numberText } from "../../platform/json/lossless.ts";

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
