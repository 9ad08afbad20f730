/** Builders of group 2000 (transactions.md 6.5). */
import type { NftAsset, TransactionBody } from "../transactions/transaction.ts";
import { TYPE_GROUPS } from "../transactions/type-groups.ts";
import { type Envelope, fill } from "./envelope.ts";

/** A token, and the properties that are set or, by `null`, deleted. */
export type TokenOptions = {
  /** Name of the kind of token; `unik` if absent. */
  tokenName?: string;
  /** 64 hexadecimal digits. */
  tokenId: string;
  /** Written in the order of transactions.md 11; omitted if there is none. */
  properties?: Readonly<Record<string, string | null>>;
};

export function nftAsset({ tokenName = "unik", tokenId, properties = {} }: TokenOptions): NftAsset {
  const hasProperties = Object.keys(properties).length > 0;
  return { [tokenName]: { tokenId, ...(hasProperties && { properties: { ...properties } }) } };
}

export const nftMint = (options: Envelope & TokenOptions): TransactionBody =>
  fill(options, { typeGroup: TYPE_GROUPS.nft, type: 0, asset: { nft: nftAsset(options) } });

/** Sets or deletes at least one property. */
export const nftUpdate = (options: Envelope & TokenOptions): TransactionBody =>
  fill(options, { typeGroup: TYPE_GROUPS.nft, type: 1, asset: { nft: nftAsset(options) } });

export const nftTransfer = (options: Envelope & TokenOptions & { recipientId: string }): TransactionBody => {
  const { recipientId } = options;
  return fill(options, {
    typeGroup: TYPE_GROUPS.nft,
    type: 2,
    recipientId,
    asset: { nft: nftAsset(options) },
  });
};
