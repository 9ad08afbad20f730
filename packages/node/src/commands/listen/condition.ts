/** Parses conditions on the command line: `key operator value`. */
import { type Condition, EVERY_EVENT } from "@uniknode/client";
import { ConfigError } from "../../platform/config-error.ts";
import { isOperatorName, operators } from "../../subscriptions/conditions/operators.ts";

/**
 * Parses the conditions of a webhook; none means every event. The node checks the values.
 *
 * @throws {ConfigError} on an invalid format or an unknown operator
 */
export const readConditions = (texts: readonly string[]): Condition[] =>
  texts.length === 0 ? [EVERY_EVENT] : texts.map(readCondition);

/** Parses one condition. The value is the rest of the text, spaces included; some operators need none. */
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
