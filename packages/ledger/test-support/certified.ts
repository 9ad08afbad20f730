/** Network with a factory, and certified transactions for the tests of the ledger. */
import type { Draft } from "@uniknode/ledger";
import {
  certify,
  certifyDisclosure,
  type MilestoneChange,
  type NftAsset,
  present,
  signDemand,
  signDiscloseDemand,
  type Transaction,
} from "@uniknode/protocol";
import { type Actors, addressOfName, keysOf, networkWith, stateOf, transactionOf } from "./fixtures.ts";
import { giveUnik, tokenId } from "./uniks.ts";

const IAT = 1_600_000_000;

/** The token of `factory` may certify; with V2 from height 20 on; `checker` joins at height 30. */
export const unikNetwork = (milestones: readonly MilestoneChange[] = []) =>
  networkWith(
    [{ height: 20, unsTokenEcoV2: true }, { height: 30, urlCheckers: [tokenId("checker")] }, ...milestones],
    { forgeFactory: { unikidWhiteList: [tokenId("factory")] } },
  );

export const V1 = { network: unikNetwork(), head: { height: 10, timestamp: 80 } };
export const V2 = { network: unikNetwork(), head: { height: 20, timestamp: 160 } };

/** State with these actors and the factory, whose token has its name. */
export function stateWithFactory(actors: Actors): Draft {
  const draft = stateOf({ factory: {}, ...actors });
  giveUnik(draft, "factory", "factory", { type: "2" });
  return draft;
}

/** Differences of a certified transaction from the default valid one. */
export type Terms = {
  cost?: bigint;
  /** Name of the issuing token. */
  issuer?: string;
  /** Signer of the certification. */
  certifier?: string;
  /** Name of the token that is the subject of the demand. */
  subject?: string;
  /** Certified content, if it differs from that of the transaction. */
  certified?: NftAsset;
  members?: Partial<Transaction>;
};

/** Mint, update or transfer with the certification of the factory, sent by `sender`. */
function certifiedOf(type: number, sender: string, nft: NftAsset, terms: Terms): Transaction {
  const { cost = 0n, issuer = "factory", certifier = issuer, subject, certified = nft, members } = terms;
  const { tokenId: own } = present(Object.values(nft)[0], "an item of Object.values");
  const payload = {
    iss: own,
    sub: subject === undefined ? own : tokenId(subject),
    iat: IAT,
    cryptoAccountAddress: members?.recipientId ?? addressOfName(sender),
  };
  const demand = signDemand(certified, payload, keysOf(sender));
  const certification = certify(
    certified,
    demand,
    { iss: tokenId(issuer), iat: IAT, cost },
    keysOf(certifier),
  );
  return transactionOf(`2001/${type}`, sender, {
    amount: type === 6 ? 0n : cost,
    recipientId: addressOfName(certifier),
    asset: { nft, demand, certification },
    ...members,
  });
}

export const certifiedMint = (sender: string, nft: NftAsset, terms: Terms = {}): Transaction =>
  certifiedOf(3, sender, nft, terms);
export const certifiedUpdate = (sender: string, nft: NftAsset, terms: Terms = {}): Transaction =>
  certifiedOf(4, sender, nft, terms);
export const certifiedTransfer = (
  sender: string,
  recipient: string,
  nft: NftAsset,
  terms: Terms = {},
): Transaction =>
  certifiedOf(6, sender, nft, {
    ...terms,
    members: { recipientId: addressOfName(recipient), ...terms.members },
  });

/** Differences of a disclosure from the default valid one. Tokens are given by their names. */
export type DisclosureTerms = {
  issuer?: string;
  certifier?: string;
  /** Token that issues the demand. */
  demander?: string;
  demandSigner?: string;
  members?: Partial<Transaction>;
};

export function disclosure(
  sender: string,
  token: string,
  explicitValue: string[],
  terms: DisclosureTerms = {},
): Transaction {
  const { issuer = "factory", certifier = issuer, demander = token, demandSigner = sender, members } = terms;
  const payload = { explicitValue, type: 1, iss: tokenId(demander), sub: tokenId(token), iat: IAT };
  const demand = signDiscloseDemand(payload, keysOf(demandSigner));
  const certification = certifyDisclosure(demand, { iss: tokenId(issuer), iat: IAT }, keysOf(certifier));
  return transactionOf("2001/0", sender, {
    asset: { "disclose-demand": demand, "disclose-demand-certification": certification },
    ...members,
  });
}
