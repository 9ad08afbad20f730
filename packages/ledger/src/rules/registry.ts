/** The rules of all registered types (transactions-rules.md section 1). */
import type { Milestone, Network, Transaction } from "@uniknode/protocol";
import { coreRules } from "./core/index.ts";
import { RuleError } from "./error.ts";
import { magistrateRules } from "./magistrate/index.ts";
import { nftRules } from "./nft/index.ts";
import type { Rule } from "./rule.ts";
import { unsRules } from "./uns/index.ts";

const CORE_GROUP = 1;

const keyOf = (typeGroup: number, type: number): string => `${typeGroup}/${type}`;

const rules: ReadonlyMap<string, Rule> = new Map(
  [...coreRules, ...magistrateRules, ...nftRules, ...unsRules].map((rule) => [
    keyOf(rule.typeGroup, rule.type),
    rule,
  ]),
);

/** The rule of a type; absent where the type is unknown. */
export const findRule = (typeGroup: number, type: number): Rule | undefined =>
  rules.get(keyOf(typeGroup, type));

/**
 * The rule of a transaction, in force at a milestone. Asked before anything else.
 *
 * @throws {RuleError} InvalidTransactionTypeError, DeactivatedTransactionHandlerError
 */
export function requireRule({ typeGroup, type }: Transaction, milestone: Milestone, network: Network): Rule {
  const rule = findRule(typeGroup, type);
  const name = typeGroup === CORE_GROUP ? `Core/${type}` : keyOf(typeGroup, type);
  if (!rule) throw new RuleError("InvalidTransactionTypeError", `Transaction type ${name} does not exist.`);
  if (!rule.isActive(milestone, network)) {
    throw new RuleError("DeactivatedTransactionHandlerError", `Transaction type ${name} is deactivated.`);
  }
  return rule;
}
