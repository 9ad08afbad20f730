/** Builders of certified transactions and disclosures for callers that have the key of the factory too. */
import { bytesToHex } from "../crypto/bytes.ts";
import { addressFromPublicKey } from "../identities/address.ts";
import type { KeyPair } from "../identities/keys.ts";
import type { Network } from "../networks/network.ts";
import type { TransactionBody } from "../transactions/transaction.ts";
import { certify } from "../transactions/types/uns/proofs/certification.ts";
import { signDemand } from "../transactions/types/uns/proofs/demand.ts";
import { certifyDisclosure, signDiscloseDemand } from "../transactions/types/uns/proofs/disclosure.ts";
import type { Envelope } from "./envelope.ts";
import { nftAsset, type TokenOptions } from "./nft.ts";
import {
  type CertifiedParts,
  unsCertifiedNftMint,
  unsCertifiedNftTransfer,
  unsCertifiedNftUpdate,
  unsDiscloseExplicit,
} from "./uns.ts";

/** The certifier. */
export type Factory = {
  /** Keys of the wallet that owns the token. */
  keys: KeyPair;
  /** Id of a token in the network's white list of factories. */
  tokenId: string;
};

/** The members that a demander and a factory sign. */
export type CertifyOptions = TokenOptions & {
  /** Keys of the demander. */
  keys: KeyPair;
  /** Token of the demander, `iss` of the demand; the demanded one if absent. */
  issuerTokenId?: string;
  /** `iat` of demand and certification: seconds since 1970. No node compares it with a clock. */
  issuedAt: number;
  factory: Factory;
  /** Cost in the smallest unit. */
  cost: bigint;
};

/** Signs the demand, for the address that the token belongs to afterwards, and its certification. */
export function certifiedParts(options: CertifyOptions & { owner: string }): CertifiedParts {
  const { keys, tokenId, issuerTokenId = tokenId, issuedAt, factory, cost, owner } = options;
  const nft = nftAsset(options);
  const payload = { iss: issuerTokenId, sub: tokenId, iat: issuedAt, cryptoAccountAddress: owner };
  const demand = signDemand(nft, payload, keys);
  const terms = { iss: factory.tokenId, iat: issuedAt, cost };
  return { nft, demand, certification: certify(nft, demand, terms, factory.keys) };
}

/** The sender is the demander. */
export type CertifiedOptions = Omit<Envelope, "senderPublicKey"> & CertifyOptions;

/** A mint for the sender; the factory receives its cost. */
export const certifiedMint = (options: CertifiedOptions): TransactionBody =>
  unsCertifiedNftMint(paidToFactory(options));

/** A change of the sender's token; the factory receives its cost. */
export const certifiedUpdate = (options: CertifiedOptions): TransactionBody =>
  unsCertifiedNftUpdate(paidToFactory(options));

/** A transfer of the sender's token to the recipient. */
export const certifiedTransfer = (options: CertifiedOptions & { recipientId: string }): TransactionBody =>
  unsCertifiedNftTransfer({
    ...options,
    ...certifiedParts({ ...options, owner: options.recipientId }),
    senderPublicKey: bytesToHex(options.keys.publicKey),
  });

function paidToFactory(options: CertifiedOptions) {
  const { keys, factory, network } = options;
  return {
    ...options,
    ...certifiedParts({ ...options, owner: addressOf(keys, network) }),
    senderPublicKey: bytesToHex(keys.publicKey),
    recipientId: addressOf(factory.keys, network),
  };
}

/** `explicitValues` are the names of the token, `kind` is 1 individual, 2 organization, 3 network. */
export type DiscloseValuesOptions = Omit<Envelope, "senderPublicKey"> &
  Pick<CertifyOptions, "keys" | "tokenId" | "issuerTokenId" | "issuedAt" | "factory"> & {
    explicitValues: readonly string[];
    kind: number;
  };

/** A disclosure by the sender. */
export function certifiedDisclosure(options: DiscloseValuesOptions): TransactionBody {
  const { keys, tokenId, issuerTokenId = tokenId, issuedAt, factory, explicitValues, kind } = options;
  const demand = signDiscloseDemand(
    { explicitValue: [...explicitValues], type: kind, iss: issuerTokenId, sub: tokenId, iat: issuedAt },
    keys,
  );
  const terms = { iss: factory.tokenId, iat: issuedAt };
  const certification = certifyDisclosure(demand, terms, factory.keys);
  return unsDiscloseExplicit({
    ...options,
    demand,
    certification,
    senderPublicKey: bytesToHex(keys.publicKey),
  });
}

const addressOf = ({ publicKey }: KeyPair, { description }: Network): string =>
  addressFromPublicKey(bytesToHex(publicKey), description.pubKeyHash);
