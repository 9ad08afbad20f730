/** Accounts and rules of the random chains. */
import { addressOf, type Draft, walletOf } from "@uniknode/ledger";
import {
  type Asset,
  bytesToHex,
  multiSignaturePublicKey,
  present,
  sha256,
  type TransactionBody,
  utf8ToBytes,
} from "@uniknode/protocol";
import { networkWith, publicKeyOf } from "../../test-support/fixtures.ts";
import { type ShownWallet, shownAttributes } from "../../test-support/holdings.ts";
import { tokenId } from "../../test-support/uniks.ts";
import type { Random } from "./random.ts";

/** Every type is active in some range of heights, and so is every rule of the token economy. */
export const network = networkWith(
  [
    { height: 20, voterMaximumWeight: { individual: 50_000_000_000 } },
    { height: 40, unsTokenEcoV2: true, urlCheckers: [tokenId("checker")] },
    { height: 55, voterMaximumWeight: false },
    { height: 70, certifiedNFTsOnly: true, disableArkLegacyVote: true },
    { height: 80, aip36: true },
    {
      height: 100,
      unsTokenEcoV3: true,
      voucherRewards: { individual: { forger: 0, sender: 0, foundation: 0 } },
    },
  ],
  { forgeFactory: { unikidWhiteList: [tokenId("factory")] } },
);

/** Highest useful height. */
export const LAST_HEIGHT = 115;

/** Premine: its wallet ends below zero. */
export const GENESIS = "genesis";
export const GENESIS_DELEGATES = ["g1", "g2", "g3", "g4", "g5"];
/** Its wallet belongs to several keys. */
export const SHARED = "shared";
export const PARTICIPANTS = ["p1", "p2", "p3"];
/** Two of three participants. */
export const SHARED_ASSET = { min: 2, publicKeys: PARTICIPANTS.map(publicKeyOf) };

/** Accounts whose tokens certify. */
export const ISSUERS = ["factory", "checker"];
const PEOPLE = ["alice", "bob", "carol", "dave", "eve", "frank", "grace", "heidi"];
/** Accounts with their own keys. */
export const SIGNERS = [...PEOPLE, ...ISSUERS, "foundation", "poor", ...GENESIS_DELEGATES];
export const ACTORS = [...SIGNERS, SHARED];

/** Cache of keys: deriving a key costs more than applying a transaction, and every proposal needs all. */
const publicKeys = new Map(
  [...SIGNERS, GENESIS, ...PARTICIPANTS].map((name) => [name, publicKeyOf(name)] as const),
).set(SHARED, multiSignaturePublicKey(SHARED_ASSET));

export const keyOfActor = (name: string): string => present(publicKeys.get(name), "an entry of publicKeys");

/** Input of a proposal. */
export type World = {
  readonly random: Random;
  /** State before the transaction. */
  readonly draft: Draft;
  /** Height of the head. */
  readonly height: number;
};

/** Transaction before it has a nonce and signatures. */
export type Proposal = {
  readonly sender: string;
  readonly members?: Partial<TransactionBody>;
};

/** Creates proposals of one type: most of them valid, if the state allows it. */
export type Proposer = (world: World) => Proposal;

export function walletOfActor({ draft }: World, name: string): ShownWallet {
  const wallet = walletOf(draft, keyOfActor(name), network);
  return { ...wallet, attributes: shownAttributes(draft, wallet) };
}

export const addressOfActor = (name: string): string => addressOf(keyOfActor(name), network);

/** Actor that satisfies a test; a random actor if there is none, or occasionally. */
export function someone(world: World, test: (wallet: ShownWallet) => boolean = () => true): string {
  const fitting = ACTORS.filter((name) => test(walletOfActor(world, name)));
  const isFitting = fitting.length > 0 && !world.random.oneIn(8);
  return world.random.pick(isFitting ? fitting : ACTORS);
}

export const proposal = (
  sender: string,
  asset?: Asset,
  members: Partial<TransactionBody> = {},
): Proposal => ({
  sender,
  members: { ...(asset && { asset }), ...members },
});

/** 64 hexadecimal digits that represent a text. */
export const digest = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)));
