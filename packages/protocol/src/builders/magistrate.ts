/** Builders of group 2 (transactions.md 6.4). */
import type { BridgechainAsset, BusinessAsset, TransactionBody } from "../transactions/transaction.ts";
import { TYPE_GROUPS } from "../transactions/type-groups.ts";
import { REGISTER, RESIGN, UPDATE } from "../transactions/types/magistrate/entity.ts";
import { type Envelope, fill } from "./envelope.ts";

export const businessRegistration = (options: Envelope & { business: BusinessAsset }): TransactionBody =>
  fill(options, {
    typeGroup: TYPE_GROUPS.magistrate,
    type: 0,
    asset: { businessRegistration: options.business },
  });

export const businessResignation = (options: Envelope): TransactionBody =>
  fill(options, { typeGroup: TYPE_GROUPS.magistrate, type: 1 });

/** Updates a business; at least one member must change. */
export const businessUpdate = (options: Envelope & { changes: Partial<BusinessAsset> }): TransactionBody =>
  fill(options, { typeGroup: TYPE_GROUPS.magistrate, type: 2, asset: { businessUpdate: options.changes } });

export const bridgechainRegistration = (
  options: Envelope & { bridgechain: BridgechainAsset },
): TransactionBody =>
  fill(options, {
    typeGroup: TYPE_GROUPS.magistrate,
    type: 3,
    asset: { bridgechainRegistration: options.bridgechain },
  });

/** `bridgechainId`: genesis hash of the bridgechain, 64 hexadecimal digits. */
export const bridgechainResignation = (options: Envelope & { bridgechainId: string }): TransactionBody => {
  const { bridgechainId } = options;
  return fill(options, {
    typeGroup: TYPE_GROUPS.magistrate,
    type: 4,
    asset: { bridgechainResignation: { bridgechainId } },
  });
};

/** Changes of a bridgechain; at least one member must change. */
export type BridgechainUpdateOptions = Envelope & {
  bridgechainId: string;
  changes: Partial<Omit<BridgechainAsset, "name" | "genesisHash">>;
};

export const bridgechainUpdate = (options: BridgechainUpdateOptions): TransactionBody => {
  const { bridgechainId, changes } = options;
  const asset = { bridgechainUpdate: { bridgechainId, ...changes } };
  return fill(options, { typeGroup: TYPE_GROUPS.magistrate, type: 5, asset });
};

/** The members `type` and `subType` of the asset, 0 to 255 each. */
export type EntityOptions = Envelope & { entityType: number; entitySubType: number };

/** `name` of 1 to 40 letters, digits and `_!@$&.-`; `ipfsData` is base58 text. */
export type EntityRegistrationOptions = EntityOptions & { name: string; ipfsData?: string };

export const entityRegistration = (options: EntityRegistrationOptions): TransactionBody => {
  const { name, ipfsData } = options;
  return entity(options, { action: REGISTER, data: { name, ...(ipfsData && { ipfsData }) } });
};

/** `registrationId`: id of the transaction that registered the entity. */
export type EntityUpdateOptions = EntityOptions & { registrationId: string; ipfsData?: string };

export const entityUpdate = (options: EntityUpdateOptions): TransactionBody => {
  const { registrationId, ipfsData } = options;
  return entity(options, { action: UPDATE, registrationId, data: { ...(ipfsData && { ipfsData }) } });
};

export const entityResignation = (options: EntityOptions & { registrationId: string }): TransactionBody =>
  entity(options, { action: RESIGN, registrationId: options.registrationId, data: {} });

type EntityMembers = Pick<NonNullable<TransactionBody["asset"]>, "action" | "registrationId" | "data">;

function entity(options: EntityOptions, members: EntityMembers): TransactionBody {
  const asset = { type: options.entityType, subType: options.entitySubType, ...members };
  return fill(options, { typeGroup: TYPE_GROUPS.magistrate, type: 6, asset });
}
