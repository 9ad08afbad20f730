/** Proposals of the core types. */
import type { Lock } from "@uniknode/ledger";
import { bytesToHex, hexToBytes, present, sha256 } from "@uniknode/protocol";
import { publicKeyOf } from "../../test-support/fixtures.ts";
import {
  ACTORS,
  addressOfActor,
  digest,
  keyOfActor,
  PARTICIPANTS,
  type Proposer,
  proposal,
  SIGNERS,
  someone,
  type World,
  walletOfActor,
} from "./world.ts";

const SECRETS = ["s1", "s2", "s3"].map(digest);
const hashOf = (secret: string) => bytesToHex(sha256(hexToBytes(secret)));

const amount = ({ random }: World): bigint => BigInt(1 + random.below(1_000_000_000));
const anyAddress = ({ random }: World): string => addressOfActor(random.pick(ACTORS));

const transfer: Proposer = (world) =>
  proposal(someone(world), undefined, {
    amount: amount(world),
    recipientId: anyAddress(world),
    expiration: 0,
  });

/** Second key of an actor. */
export const secondOf = (name: string): string => `second ${name}`;

const secondSignature: Proposer = (world) => {
  const sender = world.random.pick(SIGNERS);
  return proposal(sender, { signature: { publicKey: publicKeyOf(secondOf(sender)) } });
};

const delegateRegistration: Proposer = (world) => {
  const sender = someone(world, ({ attributes }) => !attributes.delegate);
  return proposal(sender, { delegate: { username: `name${world.random.below(12)}` } });
};

/** Vote, or unvote of a wallet that has voted. */
export function voteProposal(world: World, candidates: readonly string[]): ReturnType<Proposer> {
  if (world.random.oneIn(2)) {
    const sender = someone(world, ({ attributes }) => attributes.vote !== undefined);
    const given = walletOfActor(world, sender).attributes.vote;
    if (given) return proposal(sender, { votes: [`-${given}`] });
  }
  const sender = someone(world, ({ attributes }) => attributes.vote === undefined);
  const candidate = world.random.pick(candidates);
  return proposal(sender, { votes: [`+${keyOfActor(candidate)}`] });
}

const delegates = (world: World) => ACTORS.filter((name) => walletOfActor(world, name).attributes.delegate);

const vote: Proposer = (world) => voteProposal(world, world.random.oneIn(6) ? ACTORS : delegates(world));

const multiSignature: Proposer = (world) =>
  proposal(world.random.pick(SIGNERS), {
    multiSignature: { min: 1 + world.random.below(3), publicKeys: PARTICIPANTS.map(publicKeyOf) },
  });

/** Multihashes: SHA-256, 32 bytes. */
const HASHES = [
  "QmYSK2JyM3RyDyB52caZCTKFR3HKniEcMnNJYdk8DQ6KKB",
  "QmQeUqdjFmaxuJewStqCLUoKrR9khqb4Edw9TfRQQdfWz3",
  "Qma98bk1hjiRZDTmYmfiUXDj8hXXt7uGA5roU5mfUb3sVG",
  "QmZTR5bcpQD7cFgTorqxZDYaew1Wqgfbd2ud9QqGPAkK2V",
];

const ipfs: Proposer = (world) => proposal(someone(world), { ipfs: world.random.pick(HASHES) });

const multiPayment: Proposer = (world) => {
  const count = 2 + world.random.below(3);
  const payments = Array.from({ length: count }, () => ({
    amount: amount(world),
    recipientId: anyAddress(world),
  }));
  return proposal(someone(world), { payments });
};

const delegateResignation: Proposer = (world) =>
  proposal(
    world.random.oneIn(3) ? someone(world, ({ attributes }) => !!attributes.delegate) : someone(world),
  );

const htlcLock: Proposer = (world) => {
  const secret = world.random.pick(SECRETS);
  const expiration = { type: 2, value: world.height + 3 + world.random.below(12) };
  return proposal(
    someone(world),
    { lock: { secretHash: hashOf(secret), expiration } },
    { amount: amount(world), recipientId: anyAddress(world) },
  );
};

/** Open lock, if there is one. */
function someLock(world: World): { id: string; secret: string } {
  const locks = ACTORS.flatMap((name) =>
    Object.entries<Lock>(walletOfActor(world, name).attributes.htlc?.locks ?? {}),
  );
  if (locks.length === 0) return { id: digest("no lock"), secret: present(SECRETS[0], "an item of SECRETS") };
  const [id, { secretHash }] = world.random.pick(locks);
  const known = present(
    SECRETS.find((secret) => hashOf(secret) === secretHash),
    "an item of SECRETS",
  );
  return { id, secret: world.random.oneIn(6) ? digest("wrong") : known };
}

const htlcClaim: Proposer = (world) => {
  const { id, secret } = someLock(world);
  return proposal(someone(world), { claim: { lockTransactionId: id, unlockSecret: secret } }, { fee: 0n });
};

const htlcRefund: Proposer = (world) =>
  proposal(someone(world), { refund: { lockTransactionId: someLock(world).id } }, { fee: 0n });

export const coreProposers: Readonly<Record<string, Proposer>> = {
  "1/0": transfer,
  "1/1": secondSignature,
  "1/2": delegateRegistration,
  "1/3": vote,
  "1/4": multiSignature,
  "1/5": ipfs,
  "1/6": multiPayment,
  "1/7": delegateResignation,
  "1/8": htlcLock,
  "1/9": htlcClaim,
  "1/10": htlcRefund,
};
