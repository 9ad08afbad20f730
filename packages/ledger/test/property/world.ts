/** Who lives on the random chains, and under which rules. */
import { addressOf, type Draft, type Wallet, walletOf } from "@uniknode/ledger";
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
import { tokenId } from "../../test-support/uniks.ts";
import type { Random } from "./random.ts";

/** Every type is in force in some stretch of heights, and so is every rule of the token economy. */
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

/** The last height that is worth going to. */
export const LAST_HEIGHT = 115;

/** Premine: its wallet ends below zero. */
export const GENESIS = "genesis";
export const GENESIS_DELEGATES = ["g1", "g2", "g3", "g4", "g5"];
/** Its wallet belongs to several keys. */
export const SHARED = "shared";
export const PARTICIPANTS = ["p1", "p2", "p3"];
/** Two of three participants. */
export const SHARED_ASSET = { min: 2, publicKeys: PARTICIPANTS.map(publicKeyOf) };

/** Their tokens certify. */
export const ISSUERS = ["factory", "checker"];
const PEOPLE = ["alice", "bob", "carol", "dave", "eve", "frank", "grace", "heidi"];
/** Accounts with keys of their own. */
export const SIGNERS = [...PEOPLE, ...ISSUERS, "foundation", "poor", ...GENESIS_DELEGATES];
export const ACTORS = [...SIGNERS, SHARED];

/** Deriving a key takes longer than applying a transaction, and every proposal asks for all. */
const publicKeys = new Map(
  [...SIGNERS, GENESIS, ...PARTICIPANTS].map((name) => [name, publicKeyOf(name)] as const),
).set(SHARED, multiSignaturePublicKey(SHARED_ASSET));

export const keyOfActor = (name: string): string => present(publicKeys.get(name), "an entry of publicKeys");

/** What a transaction is made up from. */
export type World = {
  readonly random: Random;
  /** The state that it will meet. */
  readonly draft: Draft;
  /** Height of the head. */
  readonly height: number;
};

/** A transaction before it has a nonce and signatures. */
export type Proposal = {
  readonly sender: string;
  readonly members?: Partial<TransactionBody>;
};

/** Makes proposals of one type: most of them valid, if the state allows for it. */
export type Proposer = (world: World) => Proposal;

export const walletOfActor = ({ draft }: World, name: string): Wallet =>
  walletOf(draft, keyOfActor(name), network);

export const addressOfActor = (name: string): string => addressOf(keyOfActor(name), network);

/** An actor that satisfies a test; any actor where there is none, or for a change. */
export function someone(world: World, test: (wallet: Wallet) => boolean = () => true): string {
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

/** 64 hexadecimal digits that stand for a text. */
export const digest = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)));
