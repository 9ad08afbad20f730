/** The conditions of a webhook: one true condition fires it (webhooks.md 6.1). */
import { valuesAt } from "./member.ts";
import { type OperatorName, operators } from "./operators.ts";

/** `value` is any JSON value, as given; numbers as `parseJson` reads them. */
export type Condition = {
  readonly key: string;
  readonly condition: OperatorName;
  readonly value?: unknown;
};

/**
 * Makes one test of all the conditions. No conditions at all, which only registers of the old node hold, mean "always".
 *
 * @throws {OperandError} when a value does not fit its operator
 */
export function compileConditions(conditions: readonly Condition[]): (content: unknown) => boolean {
  const tests = conditions.map(({ key, condition, value }) => {
    const test = operators[condition](value);
    return (content: unknown) => valuesAt(content, key).some(test);
  });
  return (content) => tests.length === 0 || tests.some((test) => test(content));
}
