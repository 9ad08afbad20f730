/** Builders of group 2001 from parts that are signed already (transactions.md 6.6, 6.7). */
import type {
  Certification,
  Demand,
  DiscloseCertification,
  DiscloseDemand,
  NftAsset,
  TransactionBody,
} from "../transactions/transaction.ts";
import { TYPE_GROUPS } from "../transactions/type-groups.ts";
import { type Envelope, fill } from "./envelope.ts";

export type DiscloseOptions = Envelope & { demand: DiscloseDemand; certification: DiscloseCertification };

export const unsDiscloseExplicit = (options: DiscloseOptions): TransactionBody =>
  fill(options, {
    typeGroup: TYPE_GROUPS.uns,
    type: 0,
    asset: {
      "disclose-demand": options.demand,
      "disclose-demand-certification": options.certification,
    },
  });

/** `tokenId` is the token that the sender's wallet owns; it becomes the username of the delegate. */
export const unsDelegateRegister = (options: Envelope & { tokenId: string }): TransactionBody =>
  fill(options, { typeGroup: TYPE_GROUPS.uns, type: 1, asset: { delegate: { username: options.tokenId } } });

export const unsDelegateResign = (options: Envelope): TransactionBody =>
  fill(options, { typeGroup: TYPE_GROUPS.uns, type: 2 });

/** `vote` is `+` or `-`, and the public key of the delegate. */
export const unsVote = (options: Envelope & { vote: string }): TransactionBody =>
  fill(options, { typeGroup: TYPE_GROUPS.uns, type: 5, asset: { votes: [options.vote] } });

/** A demand for a token with the certification that a factory gave for it. */
export type CertifiedParts = { nft: NftAsset; demand: Demand; certification: Certification };

export type CertifiedPartsOptions = Envelope & CertifiedParts & { recipientId: string };

/** `recipientId` is the address that owns the certifier's token: it receives the cost. */
export const unsCertifiedNftMint = (options: CertifiedPartsOptions): TransactionBody =>
  certified(options, 3, options.certification.payload.cost);

/** `recipientId` as in a mint. */
export const unsCertifiedNftUpdate = (options: CertifiedPartsOptions): TransactionBody =>
  certified(options, 4, options.certification.payload.cost);

/**
 * `recipientId` is the new owner, as in the demand. The sender pays the cost in addition to the amount, which
 * is 0.
 */
export const unsCertifiedNftTransfer = (options: CertifiedPartsOptions): TransactionBody =>
  certified(options, 6, 0n);

function certified(options: CertifiedPartsOptions, type: number, amount: bigint): TransactionBody {
  const { nft, demand, certification, recipientId } = options;
  return fill(options, {
    typeGroup: TYPE_GROUPS.uns,
    type,
    amount,
    recipientId,
    asset: { nft, demand, certification },
  });
}
