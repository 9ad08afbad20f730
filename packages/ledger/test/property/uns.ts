/** Proposals of the NFT and UNS types. */

import { propertyKey } from "@uniknode/ledger";
import { type NftAsset, present, type Transaction } from "@uniknode/protocol";
import {
  certifiedMint,
  certifiedTransfer,
  certifiedUpdate,
  type DisclosureTerms,
  disclosure,
  type Terms,
} from "../../test-support/certified.ts";
import { tokenId, unik } from "../../test-support/uniks.ts";
import { voteProposal } from "./core.ts";
import {
  ACTORS,
  addressOfActor,
  ISSUERS,
  keyOfActor,
  network,
  type Proposal,
  type Proposer,
  proposal,
  SIGNERS,
  someone,
  type World,
  walletOfActor,
} from "./world.ts";

/** Names of tokens; those of issuers are separate. */
const TOKENS = [...Array.from({ length: 40 }, (_, index) => `unik${index}`), ...ISSUERS];

const idsOfTokens = new Map(TOKENS.map((token) => [token, tokenId(token)]));
const actorsByAddress = new Map(ACTORS.map((name) => [addressOfActor(name), name]));

/** By the token store, which has the same holders as the wallets (`invariants.ts`). */
function holderOf({ draft }: World, token: string): string | undefined {
  const record = draft.get("tokens", idsOfTokens.get(token) ?? tokenId(token));
  return record && actorsByAddress.get(record.ownerId);
}

const held = (world: World): string[] => TOKENS.filter((token) => holderOf(world, token));

/** Token and its owner; occasionally another account. Tokens of issuers are rare. */
function someToken(world: World): { token: string; holder: string } {
  const { random } = world;
  const tokens = held(world).filter((token) => !ISSUERS.includes(token) || random.oneIn(10));
  const token = random.pick(tokens.length > 0 && !random.oneIn(12) ? tokens : TOKENS);
  const holder = holderOf(world, token);
  return { token, holder: holder && !random.oneIn(12) ? holder : random.pick(ACTORS) };
}

const freeToken = (world: World): string => {
  const free = TOKENS.filter((token) => !holderOf(world, token));
  return world.random.pick(free.length > 0 && !world.random.oneIn(12) ? free : TOKENS);
};

/** Properties that rules read, and some that no rule reads. */
function someProperties({ random }: World): Record<string, string | null> {
  const properties: Record<string, string | null> = {};
  if (random.oneIn(2)) properties.color = random.pick(["red", "blue", "", null]);
  if (random.oneIn(3)) properties["LifeCycle/Status"] = random.pick(["2", "3"]);
  if (random.oneIn(4)) properties.explicitValues = random.pick(["me", "me,myself", "", null]);
  if (random.oneIn(8)) properties["Badges/NP/Delegate"] = random.pick(["true", "false", null]);
  if (random.oneIn(20)) properties.note = "x".repeat(random.pick([255, 256]));
  if (random.oneIn(25)) properties["bad key"] = "";
  return Object.keys(properties).length > 0 ? properties : { "a,b": "c" };
}

const someType = ({ random }: World): string => (random.oneIn(25) ? "4" : random.pick(["1", "1", "2", "3"]));

const mint: Proposer = (world) => {
  const properties = { type: someType(world), ...someProperties(world) };
  return proposal(someone(world), { nft: unik(freeToken(world), properties) });
};

/** An update occasionally changes `type`, which is refused. */
function someChange(world: World): { sender: string; nft: NftAsset } {
  const { token, holder } = someToken(world);
  const type = world.random.oneIn(25) ? { type: "1" } : {};
  return { sender: holder, nft: unik(token, { ...someProperties(world), ...type }) };
}

const update: Proposer = (world) => {
  const { sender, nft } = someChange(world);
  return proposal(sender, { nft });
};

/** A transfer may change `type`. */
function someTransfer(world: World): { sender: string; recipient: string; nft: NftAsset } {
  const { token, holder } = someToken(world);
  const type = world.random.oneIn(6) ? { type: world.random.pick(["1", "2", "3"]) } : {};
  const properties = world.random.oneIn(3) ? { ...someProperties(world), ...type } : undefined;
  const recipient = world.random.oneIn(8) ? holder : world.random.pick(SIGNERS);
  return { sender: holder, recipient, nft: unik(token, properties) };
}

const transfer: Proposer = (world) => {
  const { sender, recipient, nft } = someTransfer(world);
  return proposal(sender, { nft }, { recipientId: addressOfActor(recipient) });
};

/** Issuer, and the account that may sign for it; occasionally another one. */
function issuing(world: World): { issuer: string; certifier: string } {
  const { random } = world;
  const known = ISSUERS.filter((issuer) => holderOf(world, issuer));
  const issuer = random.pick(known.length > 0 && !random.oneIn(15) ? known : [...ISSUERS, "unknown"]);
  const owner = holderOf(world, issuer);
  return { issuer, certifier: owner && !random.oneIn(15) ? owner : random.pick(SIGNERS) };
}

const cost = ({ random }: World): bigint => (random.oneIn(2) ? 0n : BigInt(random.below(1_000_000)));

/** Input of a builder of certified transactions, without its sender and id. */
function membersOf(sender: string, { asset, amount, recipientId, fee }: Transaction): Proposal {
  return proposal(sender, asset, { amount, fee, ...(recipientId !== undefined && { recipientId }) });
}

/** Fee that a rewarded transaction needs: usually the right one. */
const rewardFee = ({ random, height }: World): bigint =>
  random.oneIn(8)
    ? 7n
    : BigInt(present(network.milestoneAt(height).voucherRewards, "voucherRewards").organization.forger);

const certifiedMintProposal: Proposer = (world) => {
  const isVoter = world.random.oneIn(4);
  const sender = someone(world, ({ attributes }) => !isVoter || attributes.vote !== undefined);
  const isVoucher = world.random.oneIn(2);
  const type = someType(world);
  const { unsTokenEcoV2 } = network.milestoneAt(world.height);
  const properties = {
    ...(!world.random.oneIn(30) && { type }),
    ...someProperties(world),
    ...(isVoucher && { UnikVoucherId: `voucher ${world.random.below(30)}` }),
  };
  const terms: Terms = {
    ...issuing(world),
    cost: isVoucher && !world.random.oneIn(12) ? 0n : cost(world),
    ...(isVoucher && { members: { fee: unsTokenEcoV2 && type === "1" ? 0n : rewardFee(world) } }),
  };
  return membersOf(sender, certifiedMint(sender, unik(freeToken(world), properties), terms));
};

const certifiedUpdateProposal: Proposer = (world) => {
  const { sender, nft } = someChange(world);
  const isAlive = present(nft.unik, "unik").properties?.["LifeCycle/Status"] === "3";
  const { voucherRewards } = network.milestoneAt(world.height);
  const terms: Terms = {
    ...issuing(world),
    cost: isAlive ? 0n : cost(world),
    ...(isAlive && {
      members: { fee: BigInt(present(voucherRewards, "voucherRewards").individual.forger) },
    }),
  };
  return membersOf(sender, certifiedUpdate(sender, nft, terms));
};

const certifiedTransferProposal: Proposer = (world) => {
  const { sender, recipient, nft } = someTransfer(world);
  const terms: Terms = {
    ...issuing(world),
    cost: cost(world),
    ...(world.random.oneIn(10) && { subject: world.random.pick(TOKENS) }),
  };
  return membersOf(sender, certifiedTransfer(sender, recipient, nft, terms));
};

const disclose: Proposer = (world) => {
  const { random } = world;
  const { token, holder } = someToken(world);
  const values = Array.from({ length: 1 + random.below(2) }, () =>
    random.oneIn(12) ? "y".repeat(random.pick([100, 200, 250])) : `name${random.below(6)}`,
  );
  const demander = random.oneIn(10) ? random.pick(TOKENS) : token;
  const terms: DisclosureTerms = {
    ...issuing(world),
    demander,
    demandSigner: holderOf(world, demander) ?? holder,
  };
  return membersOf(holder, disclosure(holder, token, values, terms));
};

/** Returns true if it is one token, with explicit values. */
const isDisclosed = ({ draft }: World, [id, ...others]: readonly string[]): boolean =>
  id !== undefined && others.length === 0 && !!draft.get("properties", propertyKey(id, "explicitValues"));

/** Usually the holder of exactly one token, in the name of that token. */
const delegateRegistration: Proposer = (world) => {
  const sender = someone(
    world,
    ({ attributes }) => !attributes.delegate && isDisclosed(world, Object.keys(attributes.tokens ?? {})),
  );
  const [own = tokenId("none")] = Object.keys(walletOfActor(world, sender).attributes.tokens ?? {});
  const username = world.random.oneIn(10) ? tokenId(world.random.pick(TOKENS)) : own;
  return proposal(sender, { delegate: { username } });
};

const delegateResignation: Proposer = (world) => {
  const inOffice = ACTORS.filter((name) => delegateType(world, name) !== undefined);
  return proposal(inOffice.length > 2 ? world.random.pick(inOffice) : world.random.pick(ACTORS));
};

/** Usually the vote of a wallet whose first token has the type of the delegate. */
const vote: Proposer = (world) => {
  const { random } = world;
  const typed = ACTORS.filter((name) => delegateType(world, name) !== undefined);
  if (typed.length === 0 || random.oneIn(4)) return voteProposal(world, ACTORS);
  const candidate = random.pick(typed);
  const sender = someone(
    world,
    ({ attributes }) =>
      !attributes.vote && Object.values(attributes.tokens ?? {})[0]?.type === delegateType(world, candidate),
  );
  return proposal(sender, { votes: [`+${keyOfActor(candidate)}`] });
};

/** Type of an active delegate. */
function delegateType(world: World, name: string): number | undefined {
  const { delegate } = walletOfActor(world, name).attributes;
  return delegate?.resigned ? undefined : delegate?.type;
}

export const unsProposers: Readonly<Record<string, Proposer>> = {
  "2000/0": mint,
  "2000/1": update,
  "2000/2": transfer,
  "2001/0": disclose,
  "2001/1": delegateRegistration,
  "2001/2": delegateResignation,
  "2001/3": certifiedMintProposal,
  "2001/4": certifiedUpdateProposal,
  "2001/5": vote,
  "2001/6": certifiedTransferProposal,
};
