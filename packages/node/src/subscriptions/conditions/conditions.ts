/** The conditions of a webhook: one true condition fires it (webhooks.md 6.1), or all of them with `match: all`. */
import type { Meter } from "./cost.ts";
import { type OperatorName, operators } from "./operators.ts";

/** `value` is any JSON value, as given; numbers as `parseJson` reads them. */
export type Condition = {
  readonly key: string;
  readonly condition: OperatorName;
  readonly value?: unknown;
};

/** Number of conditions that must hold: one is enough, or all. */
export type Match = "any" | "all";

/** @throws {CostError} see `Meter` */
export type CompiledConditions = (content: unknown, meter: Meter) => boolean;

/**
 * Compiles all conditions into one test. An empty list, which only registers of the old node contain, is always true.
 *
 * @throws {OperandError} when a value does not fit its operator
 */
export function compileConditions(
  conditions: readonly Condition[],
  match: Match = "any",
): CompiledConditions {
  const tests = conditions.map(compile);
  return match === "all"
    ? (content, meter) => tests.every((test) => test(content, meter))
    : (content, meter) => tests.length === 0 || tests.some((test) => test(content, meter));
}

/** Result of a condition, and the values that it tested: none if the content does not have the member. */
export type Finding = Condition & { readonly holds: boolean; readonly found: readonly unknown[] };

/**
 * Creates a function that explains each condition: whether it holds, and for which values.
 *
 * @throws {OperandError} when a value does not fit its operator
 */
export function explainConditions(
  conditions: readonly Condition[],
): (content: unknown, meter: Meter) => Finding[] {
  const tests = conditions.map((condition) => ({ condition, test: compile(condition) }));
  return (content, meter) =>
    tests.map(({ condition, test }) => ({
      ...condition,
      holds: test(content, meter),
      found: valuesAt(content, condition.key).filter((value) => value !== undefined),
    }));
}

/** Steps to test one value with any operator: the cost of a pattern of one instruction on 10 characters. */
const VALUE_STEPS = 10;

function compile({ key, condition, value }: Condition): (content: unknown, meter: Meter) => boolean {
  const test = operators[condition](value);
  return (content, meter) =>
    valuesAt(content, key).some((found) => {
      meter.spend(VALUE_STEPS);
      return test(found, meter);
    });
}

/**
 * Returns the values under a key (webhooks.md 6.2): one value (`undefined` if the content does not have the key), or one per
 * element if the content is an array that does not have the key itself.
 */
export function valuesAt(content: unknown, key: string): readonly unknown[] {
  const value = memberOf(content, key);
  if (value !== undefined || !Array.isArray(content)) return [value];
  return content.map((element) => memberOf(element, key));
}

/** Resolves a key; at every step of a path, an own member with the whole remaining name has precedence. */
function memberOf(container: unknown, key: string): unknown {
  if (typeof container !== "object" || container === null) return undefined;
  if (Object.hasOwn(container, key)) return (container as Record<string, unknown>)[key];
  const dot = key.indexOf(".");
  const head = key.slice(0, dot);
  if (dot === -1 || !Object.hasOwn(container, head)) return undefined;
  return memberOf((container as Record<string, unknown>)[head], key.slice(dot + 1));
}
