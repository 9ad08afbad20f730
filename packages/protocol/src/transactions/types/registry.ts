/**
 * All transaction types; the rules in force for a transaction (transactions.md 1), and by them the accepted types, and those whose
 * signatures can be verified (transactions.md 10 and 14).
 */

import type { Milestone, Network } from "../../networks/network.ts";
import { TransactionError } from "../errors.ts";
import { coreTypes } from "./core/index.ts";
import { bridgechainTypes } from "./magistrate/bridgechain.ts";
import { businessTypes } from "./magistrate/business.ts";
import { entity } from "./magistrate/entity.ts";
import { nftTypes } from "./nft/index.ts";
import type { TransactionType } from "./type.ts";
import { unsTypes } from "./uns/index.ts";

/** Transaction types in the order in which a batch tries them (transactions.md 8.2). */
export const transactionTypes: readonly TransactionType[] = [
  ...coreTypes,
  ...nftTypes,
  ...unsTypes,
  ...businessTypes,
  ...bridgechainTypes,
  entity,
];

const byNumbers = new Map(transactionTypes.map((type) => [`${type.typeGroup}/${type.type}`, type]));

/** The type with a group and a number, if it is registered. */
export const findTransactionType = (typeGroup: number, type: number): TransactionType | undefined =>
  byNumbers.get(`${typeGroup}/${type}`);

/**
 * Key of a type in configurations and fee tables (transactions.md 6.1).
 *
 * @throws {TransactionError} UnkownTransactionError
 */
export function transactionKey(typeGroup: number, type: number): string {
  const found = findTransactionType(typeGroup, type);
  if (!found) throw unknownType(typeGroup, type);
  return found.key;
}

export const unknownType = (typeGroup: unknown, type: unknown): TransactionError =>
  new TransactionError("UnkownTransactionError", `no transaction type is registered as ${typeGroup}/${type}`);

export type TransactionContext = {
  network: Network;
  /** Height of the last accepted block, not of the block that is checked (trap A1). */
  height: number;
};

export const milestoneOf = ({ network, height }: TransactionContext): Milestone =>
  network.milestoneAt(height);

/** Returns true if the transaction is a listed exception of the chain's history (networks.md 3). */
export const isExceptional = ({ network }: TransactionContext, id: unknown): boolean =>
  typeof id === "string" && network.exceptions.transactions?.includes(id) === true;

/** `isSwitchedOn`: the setting of the type in the network's `transactionsConfig`. */
type Condition = (milestone: Milestone, isSwitchedOn: boolean) => boolean;

const always: Condition = () => true;
const switched: Condition = (_milestone, isSwitchedOn) => isSwitchedOn;
const aip11: Condition = (milestone) => milestone.aip11 === true;
const switchedAip11: Condition = (milestone, isSwitchedOn) => milestone.aip11 === true && isSwitchedOn;
const htlc: Condition = (milestone, isSwitchedOn) =>
  milestone.aip11 === true && milestone.htlcEnabled === true && isSwitchedOn;
/** The switch is not read (trap A13). */
const magistrate: Condition = (milestone) => milestone.aip11 === true && !milestone.aip36;

/** Conditions by type key; types that are not listed are always active. */
const activeWhen: Readonly<Record<string, Condition>> = {
  delegateRegistration: switched,
  vote: (milestone) => !milestone.disableArkLegacyVote,
  multiSignature: switched,
  ipfs: switchedAip11,
  multiPayment: aip11,
  delegateResignation: switchedAip11,
  htlcLock: htlc,
  htlcClaim: htlc,
  htlcRefund: htlc,
  businessRegistration: magistrate,
  businessResignation: magistrate,
  businessUpdate: magistrate,
  bridgechainRegistration: magistrate,
  bridgechainResignation: magistrate,
  bridgechainUpdate: magistrate,
  entity: (milestone) => milestone.aip36 === true,
  NftMint: (milestone) => !milestone.certifiedNFTsOnly,
  NftUpdate: switched,
  NftTransfer: switched,
  UnsDelegateResign: aip11,
  UnsCertifiedNftTransfer: switched,
};

/**
 * Returns true if a node accepts the type at the context's height, in its pool and in blocks.
 *
 * @throws {TransactionError} UnkownTransactionError
 */
export function isTypeActive(typeGroup: number, type: number, context: TransactionContext): boolean {
  const key = transactionKey(typeGroup, type);
  const isSwitchedOn = context.network.description.transactionsConfig?.[key]?.enable ?? true;
  return (activeWhen[key] ?? always)(milestoneOf(context), isSwitchedOn);
}

/** Conditions by type key; the signatures of types that are not listed can always be verified. */
const verifiableWhen: Readonly<Record<string, (milestone: Milestone) => boolean>> = {
  multiSignature: (milestone) => milestone.aip11 === true,
  ipfs: (milestone) => milestone.aip11 === true,
  multiPayment: (milestone) => milestone.aip11 === true,
  delegateResignation: (milestone) => milestone.aip11 === true,
  htlcLock: (milestone) => milestone.aip11 === true && milestone.htlcEnabled === true,
  htlcClaim: (milestone) => milestone.aip11 === true && milestone.htlcEnabled === true,
  htlcRefund: (milestone) => milestone.aip11 === true && milestone.htlcEnabled === true,
  UnsDelegateResign: (milestone) => milestone.aip11 === true,
};

/**
 * Returns true if the sender's signature of the type counts. It does not depend on the network's
 * configuration.
 *
 * @throws {TransactionError} UnkownTransactionError
 */
export function isVerifiable(
  { typeGroup, type }: { typeGroup: number; type: number },
  milestone: Milestone,
): boolean {
  return verifiableWhen[transactionKey(typeGroup, type)]?.(milestone) ?? true;
}
