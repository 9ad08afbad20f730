/**
 * Effects of transactions on the token store (state.md 3.1). They follow from the transaction and the properties before it, so that
 * the store at any height can be derived from the transactions of the chain.
 */
import { assetMember, type NftToken, present, type Transaction } from "@uniknode/protocol";
import type { Draft } from "../../state/draft.ts";
import { nftOf } from "./economy.ts";
import { DELEGATE_BADGE, EXPLICIT_VALUES, setProperty } from "./properties.ts";

export type TokenEffect = {
  readonly tokenId: string;
  /** Address of the new owner; absent: the owner is the same. */
  readonly ownerId?: string;
  /** New values; `null` deletes a property. */
  readonly properties: Readonly<Record<string, string | null>>;
};

/** Values from which an effect is derived, besides the transaction. */
export type TokenEffectContext = {
  addressOf(publicKey: string): string;
  /** Returns the username with which the owner of a key registered as a delegate. */
  usernameOf(publicKey: string): string | undefined;
  /** Returns the value before the transaction. */
  propertyOf(tokenId: string, key: string): string | undefined;
};

export function setProperties(draft: Draft, { tokenId, properties }: TokenEffect): void {
  for (const [key, value] of Object.entries(properties)) setProperty(draft, tokenId, key, value);
}

/** Returns the effect of an applied transaction; undefined for types that change no token. */
export function tokenEffect(transaction: Transaction, context: TokenEffectContext): TokenEffect | undefined {
  const { typeGroup, type, senderPublicKey } = transaction;
  switch (`${typeGroup}/${type}`) {
    case "2000/0":
    case "2001/3":
      return mintEffect(nftOf(transaction).token, context.addressOf(senderPublicKey));
    case "2000/1":
    case "2001/4":
      return updateEffect(nftOf(transaction).token);
    case "2000/2":
    case "2001/6":
      return sendEffect(transaction);
    case "2001/0":
      return discloseEffect(transaction, context.propertyOf);
    case "2001/1":
      return badgeEffect(assetMember(transaction.asset, "delegate").username, true);
    case "2001/2":
      return badgeEffect(present(context.usernameOf(senderPublicKey), "the username"), false);
    default:
      return undefined;
  }
}

export const mintEffect = ({ tokenId, properties = {} }: NftToken, ownerId: string): TokenEffect => ({
  tokenId,
  ownerId,
  properties,
});

export const updateEffect = ({ tokenId, properties = {} }: NftToken): TokenEffect => ({
  tokenId,
  properties,
});

export const sendEffect = (transaction: Transaction): TokenEffect => ({
  ...updateEffect(nftOf(transaction).token),
  ownerId: present(transaction.recipientId, "recipientId"),
});

/** Maximum length of a value in the token store, in characters. */
export const MAX_VALUE_CHARACTERS = 255;

/**
 * New values first, each value once. An empty text counts as one empty value, which leaves a comma at the end. The token store cuts
 * spaces beyond its maximum (trap A8).
 */
export function discloseEffect(
  { asset }: Transaction,
  propertyOf: TokenEffectContext["propertyOf"],
): TokenEffect & { readonly values: string } {
  const { sub, explicitValue } = assetMember(asset, "disclose-demand").payload;
  const known = propertyOf(sub, EXPLICIT_VALUES)?.split(",") ?? [];
  const joined = [...new Set([...explicitValue, ...known])].join(",");
  const characters = [...joined];
  const isCut = characters.slice(MAX_VALUE_CHARACTERS).every((character) => character === " ");
  const values = isCut ? characters.slice(0, MAX_VALUE_CHARACTERS).join("") : joined;
  return { tokenId: sub, properties: { [EXPLICIT_VALUES]: values }, values };
}

export const badgeEffect = (tokenId: string, isDelegate: boolean): TokenEffect => ({
  tokenId,
  properties: { [DELEGATE_BADGE]: String(isDelegate) },
});
