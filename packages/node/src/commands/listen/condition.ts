/** Conditions as they are typed: `key operator value`. */
import type { Condition } from "@uniknode/client";
import { ConfigError } from "../../platform/config-error.ts";
import { isOperatorName, operators } from "../../subscriptions/conditions/operators.ts";

/** True of every event. */
const ALWAYS: Condition = { key: "id", condition: "ne", value: "" };

/**
 * The conditions of a webhook; without any, one that is always true. Whether operator and value fit is judged by the node.
 *
 * @throws {ConfigError} for a text without one of the operators
 */
export const readConditions = (texts: readonly string[]): Condition[] =>
  texts.length === 0 ? [ALWAYS] : texts.map(readCondition);

/** The value is everything behind the operator, spaces included; some operators need none. */
function readCondition(text: string): Condition {
  const [, key, condition, value] = /^\s*(\S+)\s+(\S+)(?:\s+(.*?))?\s*$/.exec(text) ?? [];
  if (key === undefined || condition === undefined) {
    throw new ConfigError(
      `--condition: "key operator value" is expected, such as "amount gte 100000000", not ${JSON.stringify(text)}`,
    );
  }
  if (!isOperatorName(condition)) {
    throw new ConfigError(
      `--condition: "${condition}" is none of the operators, which are ${Object.keys(operators).join(", ")}`,
    );
  }
  return { key, condition, ...(value !== undefined && { value }) };
}
