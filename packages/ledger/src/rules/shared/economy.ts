/** Determines which certified transactions create tokens, and how many (state.md 4.1). */
import {
  assetMember,
  type Milestone,
  type NftToken,
  present,
  type Transaction,
  TYPE_GROUPS,
  type VoucherReward,
} from "@uniknode/protocol";
import { findHolding } from "../../state/holdings.ts";
import type { StateReader } from "../../state/tables.ts";
import { addressOf } from "../../wallets.ts";
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
