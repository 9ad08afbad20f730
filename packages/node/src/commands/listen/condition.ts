/** Conditions on the command line: `key operator value`. */
import type { Condition } from "@uniknode/client";
import { ConfigError } from "../../platform/config-error.ts";
import { isOperatorName, operators } from "../../subscriptions/conditions/operators.ts";

/** True of every event. */
const ALWAYS: Condition = { key: "id", condition: "ne", value: "" };

/**
 * Parses the conditions of a webhook; without any, one that is always true. The node checks whether the value fits.
 *
 * @throws {ConfigError} for a text in another format, or with an unknown operator
 */
export const readConditions = (texts: readonly string[]): Condition[] =>
  texts.length === 0 ? [ALWAYS] : texts.map(readCondition);

/** The value is the text after the operator, spaces included; some operators need none. */
function readCondition(text: string): Condition {
  const [, key, condition, value] = /^\s*(\S+)\s+(\S+)(?:\s+(.*?))?\s*$/.exec(text) ?? [];
  if (key === undefined || condition === undefined) {
    throw new ConfigError(
      `--condition: "key operator value" is expected, such as "amount gte 100000000", not ${JSON.stringify(text)}`,
    );
  }
  if (!isOperatorName(condition)) {
    throw new ConfigError(
      `--condition: "${condition}" is not an operator; the operators are ${Object.keys(operators).join(", ")}`,
    );
  }
  return { key, condition, ...(value !== undefined && { value }) };
}
