/** Registration, change and resignation of an entity (transactions-rules.md 4 type 6). */
import { type Asset, staticFee, type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import { type Entity, entityKey, type Wallet } from "../../state/tables.ts";
import { saveWallet, walletOf, withAttribute } from "../../wallets.ts";
import { checkCommon, refusal } from "../shared/common.ts";
import type { Rule, RuleContext } from "../shared/rule.ts";

const REGISTER = 0;
const UPDATE = 1;

/** Entities of this type have the name of a delegate. */
const DELEGATE = 4;

function checkEntity(transaction: Transaction, context: RuleContext, sender: Wallet): void {
  const fee = staticFee(transaction, context.milestone);
  if (transaction.fee !== fee) {
    throw refusal("StaticFeeMismatchError", `fee doesn't match static fee ${fee}.`);
  }
  checkCommon(transaction, context, sender);
  if (transaction.asset!.action === REGISTER) checkRegistration(transaction, context, sender);
  else checkChange(transaction.asset!, sender);
}

function checkRegistration({ id, asset }: Transaction, { state }: RuleContext, sender: Wallet): void {
  const { type, data } = asset!;
  if (sender.attributes.entities?.[id] !== undefined) {
    throw refusal("EntityAlreadyRegisteredError", "the entity is already registered for the wallet.");
  }
  // Resigned entities keep their name.
  if (state.get("entities", entityKey(type!, data!.name!)) !== undefined) {
    throw refusal("EntityNameAlreadyRegisteredError", "the entity name is already registered.");
  }
  if (type === DELEGATE) checkDelegateName(data!.name!, sender);
}

function checkDelegateName(name: string, { attributes }: Wallet): void {
  if (attributes.delegate === undefined) {
    throw refusal("EntitySenderIsNotDelegateError", "entity sender wallet is not a delegate.");
  }
  if (attributes.delegate.username !== name) {
    throw refusal("EntityNameDoesNotMatchDelegateError", "entity name does not match delegate name.");
  }
}

function checkChange({ registrationId, type, subType }: Asset, { attributes }: Wallet): void {
  const entity = attributes.entities?.[registrationId!];
  if (entity === undefined) {
    throw refusal("EntityNotRegisteredError", "the entity is not registered for the wallet.");
  }
  if (entity.resigned) {
    throw refusal("EntityAlreadyResignedError", "the entity is already resigned for the wallet.");
  }
  if (entity.type !== type) {
    throw refusal("EntityWrongTypeError", "the entity asset type does not match the wallet one.");
  }
  if (entity.subType !== subType) {
    throw refusal("EntityWrongSubTypeError", "the entity asset subtype does not match the wallet one.");
  }
}

function applyEntity(transaction: Transaction, { draft, network }: RuleContext): void {
  const { id, senderPublicKey, asset } = transaction;
  const sender = walletOf(draft, senderPublicKey, network);
  const registrationId = asset!.action === REGISTER ? id : asset!.registrationId!;
  const entity = changed(sender.attributes.entities?.[registrationId], asset!);
  const entities = { ...sender.attributes.entities, [registrationId]: entity };
  saveWallet(draft, withAttribute(sender, "entities", entities));
  if (asset!.action === REGISTER) draft.set("entities", entityKey(entity.type, entity.data.name!), id);
}

/** The entity after the action; before a registration it is undefined. */
function changed(entity: Entity | undefined, { action, type, subType, data }: Asset): Entity {
  if (!entity) return { type: type!, subType: subType!, data: data! };
  if (action === UPDATE) return { ...entity, data: { ...entity.data, ...data } };
  return { ...entity, resigned: true };
}

export const entity: Rule = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 6,
  check: checkEntity,
  applyToSender: applyEntity,
};
