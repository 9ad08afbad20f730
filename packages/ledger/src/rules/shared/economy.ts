/**
 * Determines which certified transactions create tokens, and how many (state.md 4.1), and finds the issuers of certifications: tokens
 * that the network trusts, represented by their current owner (trap A10).
 */
import {
  assetMember,
  certificationJob,
  discloseCertificationJob,
  discloseDemandJob,
  type Milestone,
  type NftToken,
  present,
  type SignatureJob,
  type Transaction,
  TYPE_GROUPS,
  type VoucherReward,
} from "@uniknode/protocol";
import { findHolding } from "../../state/holdings.ts";
import type { StateReader, Wallet } from "../../state/tables.ts";
import { addressOf, walletAt } from "../../wallets.ts";
import { RuleError } from "./error.ts";
import { typeFromText } from "./kinds.ts";
import type { RuleContext } from "./rule.ts";

/** Numbers of two types of the group `uns`. */
export const CERTIFIED_MINT = 3;
export const CERTIFIED_UPDATE = 4;

export const INDIVIDUAL = 1;
const ORGANIZATION = 2;
const NETWORK = 3;

const LIFE_CYCLE_STATUS = "LifeCycle/Status";
const ALIVE = "3";
const VOUCHER_ID = "UnikVoucherId";

/** Shares of a rewarded event, smallest unit. */
export type Reward = { readonly forger: bigint; readonly sender: bigint; readonly foundation: bigint };

const isPlainMint = ({ typeGroup, type }: Transaction): boolean =>
  typeGroup === TYPE_GROUPS.nft && type === 0;

export const isCertifiedMint = ({ typeGroup, type }: Transaction): boolean =>
  typeGroup === TYPE_GROUPS.uns && type === CERTIFIED_MINT;
export const isCertifiedUpdate = ({ typeGroup, type }: Transaction): boolean =>
  typeGroup === TYPE_GROUPS.uns && type === CERTIFIED_UPDATE;

/** The token of an NFT asset with its name; only the first name is used. */
export function nftOf({ asset }: Transaction): { name: string; token: NftToken } {
  const [name, token] = present(Object.entries(assetMember(asset, "nft"))[0], "the token of asset.nft");
  return { name, token };
}

/** Returns the id of the token that the transaction creates; undefined if it is not a mint. */
export const mintedTokenId = (transaction: Transaction): string | undefined =>
  isPlainMint(transaction) || isCertifiedMint(transaction) ? nftOf(transaction).token.tokenId : undefined;

/** The voucher that pays a certified mint; undefined for every other transaction. */
export function voucherOf(transaction: Transaction): string | undefined {
  if (!isCertifiedMint(transaction)) return undefined;
  return nftOf(transaction).token.properties?.[VOUCHER_ID] || undefined;
}

/** Returns true if a mint or an update declares its token alive. */
export const declaresAlive = (transaction: Transaction): boolean =>
  nftOf(transaction).token.properties?.[LIFE_CYCLE_STATUS] === ALIVE;

/** Returns true if a certified update declares its token alive (state.md 3.2). */
export const isAliveDemand = (transaction: Transaction): boolean =>
  isCertifiedUpdate(transaction) && declaresAlive(transaction);

/** R(type) of the milestone; undefined if it has no table, or the type is none of the three. */
export function rewardOfType({ voucherRewards }: Milestone, type: number | undefined): Reward {
  const shares = voucherRewards && sharesOf(voucherRewards, type);
  if (!shares) return { forger: 0n, sender: 0n, foundation: 0n };
  return {
    forger: BigInt(shares.forger),
    sender: BigInt(shares.sender),
    foundation: BigInt(shares.foundation),
  };
}

function sharesOf(
  rewards: NonNullable<Milestone["voucherRewards"]>,
  type: number | undefined,
): VoucherReward | undefined {
  if (type === INDIVIDUAL) return rewards.individual;
  if (type === ORGANIZATION) return rewards.organization;
  return type === NETWORK ? rewards.network : undefined;
}

/** Type of a token that the sender holds; undefined if the sender does not hold it (trap A22). */
export function heldType(
  state: StateReader,
  { senderPublicKey }: Transaction,
  network: RuleContext["network"],
  tokenId: string,
): number | undefined {
  return findHolding(state, { address: addressOf(senderPublicKey, network), kind: "tokens" }, tokenId)?.type;
}

/**
 * The reward of a transaction, if it is rewarded: a mint with voucher (not of an individual under V2) or, under V2, an
 * alive demand for an individual. The amounts may be 0.
 */
export function rewardOf(transaction: Transaction, context: RuleContext): Reward | undefined {
  const { milestone, draft, network } = context;
  const isV2 = !!milestone.unsTokenEcoV2;
  if (voucherOf(transaction) !== undefined) {
    const type = typeFromText(nftOf(transaction).token.properties?.type);
    return isV2 && type === INDIVIDUAL ? undefined : rewardOfType(milestone, type);
  }
  if (!isV2 || !isAliveDemand(transaction)) return undefined;
  const type = heldType(draft, transaction, network, nftOf(transaction).token.tokenId);
  return type === INDIVIDUAL ? rewardOfType(milestone, type) : undefined;
}

/** The network's message for a token that does not exist. */
export const UNKNOWN_TOKEN = "Cannot read property 'ownerId' of null";

/**
 * The wallet that owns the issuing token of a certification.
 *
 * @throws {RuleError} CertifiedDemandNotAllowedIssuerError, IssuerNotFound
 */
export function requireIssuer({ id }: Transaction, context: RuleContext, iss: string): Wallet {
  const { network, milestone, state } = context;
  const factories = network.description.forgeFactory?.unikidWhiteList ?? [];
  if (!factories.includes(iss) && !milestone.urlCheckers?.includes(iss)) {
    throw new RuleError(
      "CertifiedDemandNotAllowedIssuerError",
      `Failed to apply transaction ${id}, because the demand issuer of id ${iss} is not allowed to`,
    );
  }
  const owner = ownerOf(state, iss);
  if (owner) return owner;
  throw new RuleError(
    "IssuerNotFound",
    `Failed to apply transaction ${id}: Unable to retrieve transaction issuer: ${UNKNOWN_TOKEN}`,
  );
}

/** The wallet that owns a token now; undefined if the token does not exist. */
export function ownerOf(state: StateReader, tokenId: string): Wallet | undefined {
  const token = state.get("tokens", tokenId);
  return token && walletAt(state, token.ownerId);
}

/**
 * Returns the signatures inside the asset of a transaction that the rules check (transactions-rules.md 6.0, 7.1), with the
 * keys of the owners of the issuing uniks in a state. Signatures of owners without a key are left out.
 */
export function payloadJobs({ asset = {} }: Transaction, state: StateReader): SignatureJob[] {
  const { certification, "disclose-demand": demand, "disclose-demand-certification": disclosed } = asset;
  const keyOf = (iss: string | undefined) => iss && ownerOf(state, iss)?.publicKey;
  const certifier = keyOf(certification?.payload.iss);
  const discloser = keyOf(disclosed?.payload.iss);
  const demander = keyOf(demand?.payload.iss);
  return [
    ...(certification && certifier ? [certificationJob(certification, certifier)] : []),
    ...(disclosed && discloser ? [discloseCertificationJob(disclosed, discloser)] : []),
    ...(demand && demander ? [discloseDemandJob(demand, demander)] : []),
  ];
}
