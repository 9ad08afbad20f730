/** Registration, change and resignation of an entity (transactions-rules.md 4 type 6). */
import {
  type Asset,
  assetMember,
  present,
  staticFee,
  type Transaction,
  TYPE_GROUPS,
} from "@uniknode/protocol";
import { addHolding, findHolding } from "../../state/holdings.ts";
import { type Entity, entityKey, type StateReader, type Wallet } from "../../state/tables.ts";
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
  const asset = present(transaction.asset, "asset");
  if (asset.action === REGISTER) checkRegistration(transaction.id, asset, context, sender);
  else checkChange(asset, context, sender);
}

const findEntity = (state: StateReader, { address }: Wallet, id: string): Entity | undefined =>
  findHolding(state, { address, kind: "entities" }, id);

function checkRegistration(id: string, asset: Asset, { state, draft }: RuleContext, sender: Wallet): void {
  if (findEntity(draft, sender, id)) {
    throw refusal("EntityAlreadyRegisteredError", "the entity is already registered for the wallet.");
  }
  // Resigned entities keep their name.
  const type = assetMember(asset, "type");
  const name = present(asset.data?.name, "asset.data.name");
  if (state.get("entities", entityKey(type, name)) !== undefined) {
    throw refusal("EntityNameAlreadyRegisteredError", "the entity name is already registered.");
  }
  if (type === DELEGATE) checkDelegateName(name, sender);
}

function checkDelegateName(name: string, { attributes }: Wallet): void {
  if (attributes.delegate === undefined) {
    throw refusal("EntitySenderIsNotDelegateError", "entity sender wallet is not a delegate.");
  }
  if (attributes.delegate.username !== name) {
    throw refusal("EntityNameDoesNotMatchDelegateError", "entity name does not match delegate name.");
  }
}

function checkChange({ registrationId, type, subType }: Asset, { draft }: RuleContext, sender: Wallet): void {
  const entity = registrationId === undefined ? undefined : findEntity(draft, sender, registrationId);
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
  const { id, senderPublicKey } = transaction;
  const asset = present(transaction.asset, "asset");
  const sender = walletOf(draft, senderPublicKey, network);
  const isRegistration = asset.action === REGISTER;
  const registrationId = isRegistration ? id : assetMember(asset, "registrationId");
  const entity = changed(findEntity(draft, sender, registrationId), asset);
  const of = { address: sender.address, kind: "entities" } as const;
  const entities = addHolding(draft, of, sender.attributes.entities, [registrationId, entity]);
  saveWallet(draft, withAttribute(sender, "entities", entities));
  if (isRegistration) {
    const name = present(entity.data.name, "asset.data.name");
    draft.set("entities", entityKey(entity.type, name), id);
  }
}

/** The entity after the action; before a registration it is undefined. */
function changed(entity: Entity | undefined, { action, type, subType, data }: Asset): Entity {
  if (!entity) {
    return {
      type: present(type, "asset.type"),
      subType: present(subType, "asset.subType"),
      data: present(data, "asset.data"),
    };
  }
  if (action === UPDATE) return { ...entity, data: { ...entity.data, ...data } };
  return { ...entity, resigned: true };
}

export const entity: Rule = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 6,
  check: checkEntity,
  applyToSender: applyEntity,
};
