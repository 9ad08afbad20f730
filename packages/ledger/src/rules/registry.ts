/** The rules of all registered types (transactions-rules.md 1). */
import { isTypeActive, type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import { coreRules } from "./core/index.ts";
import { bridgechainRules } from "./magistrate/bridgechain.ts";
import { businessRules } from "./magistrate/business.ts";
import { entity } from "./magistrate/entity.ts";
import { nftRules } from "./nft/index.ts";
import { RuleError } from "./shared/error.ts";
import type { Rule, RuleContext } from "./shared/rule.ts";
import { unsRules } from "./uns/index.ts";

const keyOf = (typeGroup: number, type: number): string => `${typeGroup}/${type}`;

const rules: ReadonlyMap<string, Rule> = new Map(
  [...coreRules, ...businessRules, ...bridgechainRules, entity, ...nftRules, ...unsRules].map((rule) => [
    keyOf(rule.typeGroup, rule.type),
    rule,
  ]),
);

/** The rule of a type; undefined if the type is unknown. */
export const findRule = (typeGroup: number, type: number): Rule | undefined =>
  rules.get(keyOf(typeGroup, type));

/**
 * The rule of a transaction whose type is active at the head. Called before all other checks.
 *
 * @throws {RuleError} InvalidTransactionTypeError, DeactivatedTransactionHandlerError
 */
export function requireRule(
  { typeGroup, type }: Transaction,
  { network, head }: Pick<RuleContext, "network" | "head">,
): Rule {
  const rule = findRule(typeGroup, type);
  const name = typeGroup === TYPE_GROUPS.core ? `Core/${type}` : keyOf(typeGroup, type);
  if (!rule) throw new RuleError("InvalidTransactionTypeError", `Transaction type ${name} does not exist.`);
  if (!isTypeActive(typeGroup, type, { network, height: head.height })) {
    throw new RuleError("DeactivatedTransactionHandlerError", `Transaction type ${name} is deactivated.`);
  }
  return rule;
}
