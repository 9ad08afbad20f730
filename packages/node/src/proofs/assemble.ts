/**
 * Blocks from which proofs are made, the members of a proof from the blocks that it contains (proofs.md 3), and proofs
 * of the facts that deliveries contain (webhooks.md 7.5).
 */
import type { Proof } from "@uniknode/client/proofs";
import { createRounds, encodeHeader, type Network, quorumOf } from "@uniknode/protocol";
import type { ReadModel, Snapshot } from "../read/port.ts";
import type { StoredBlock } from "../read/rows.ts";

export type BlocksAbove = {
  readonly head: Snapshot["head"];
  /** Returns consecutive blocks, fewer at the head. */
  blocks(from: number, count: number): Promise<readonly StoredBlock[]>;
  roundAt: ReturnType<typeof createRounds>["roundAt"];
  /** Returns the trusted keys of a checkpoint at a height: the generators of its round. */
  trustAt(height: number): Promise<Trust>;
  /** Returns true if a verifier can read the header at a height: the parent has a full id. */
  isProvable(height: number): boolean;
};

/** Keys that a verifier trusts, and how many of them make a block final. */
export type Trust = {
  /** First height of the round above the one whose generators are trusted. */
  readonly nextRoundHeight: number;
  readonly keys: ReadonlySet<string>;
  readonly quorum: number;
};

export function createBlocksAbove({ head, blocks: stored }: Snapshot, network: Network): BlocksAbove {
  const { roundAt } = createRounds(network);
  const blocks: BlocksAbove["blocks"] = async (from, count) => {
    const height = { from, to: from + count - 1 };
    const order = { field: "height", direction: "asc" } as const;
    return (await stored.list({ height }, order, { offset: 0, limit: count })).rows;
  };
  return {
    head,
    blocks,
    roundAt,
    async trustAt(height) {
      const { roundHeight, maxDelegates } = roundAt(height);
      return trustOf(await blocks(roundHeight, maxDelegates), roundHeight + maxDelegates, maxDelegates);
    },
    isProvable: (height) => height > 1 && network.milestoneAt(height - 1).block.idFullSha256 === true,
  };
}

/** Returns the trust in the generators of a round. */
export const trustOf = (
  round: readonly StoredBlock[],
  nextRoundHeight: number,
  delegates: number,
): Trust => ({
  nextRoundHeight,
  keys: new Set(round.map(({ generatorPublicKey }) => generatorPublicKey)),
  quorum: quorumOf(delegates),
});

/** Returns the fewest blocks, from the first one on, that a quorum signed; undefined if no quorum did. */
export function upToQuorum(
  blocks: readonly StoredBlock[],
  { keys, quorum }: Trust,
): StoredBlock[] | undefined {
  const signers = new Set<string>();
  for (const [index, { generatorPublicKey }] of blocks.entries()) {
    if (keys.has(generatorPublicKey)) signers.add(generatorPublicKey);
    if (signers.size >= quorum) return blocks.slice(0, index + 1);
  }
  return undefined;
}

/** Returns the signed bytes of a header, hexadecimal. */
const headerText = (block: StoredBlock, network: Network): string =>
  Buffer.from(
    encodeHeader(
      {
        ...block,
        totalAmount: BigInt(block.totalAmount),
        totalFee: BigInt(block.totalFee),
        reward: BigInt(block.reward),
      },
      network,
    ),
  ).toString("hex");

type ProofContents = {
  /** The proven block, and those above it without a gap. */
  readonly blocks: readonly StoredBlock[];
  /** Blocks of each advance of the trusted keys. */
  readonly advances: readonly { readonly blocks: readonly StoredBlock[] }[];
  /** Signed bytes of the transaction; undefined: the proof is of the block. */
  readonly transaction: Uint8Array | undefined;
};

export async function assembleProof(
  snapshot: Snapshot,
  network: Network,
  { blocks, advances, transaction }: ProofContents,
): Promise<Proof> {
  const [block] = blocks;
  if (!block) throw new TypeError("a proof has at least one block");
  return {
    nethash: network.description.nethash,
    ...(transaction && { transaction: Buffer.from(transaction).toString("hex") }),
    ids: [...(await snapshot.transactions.idsInBlock(block.height))],
    headers: blocks.map((one) => headerText(one, network)),
    advances: advances.map(({ blocks }) => blocks.map((one) => headerText(one, network))),
    rounds: await readRounds(snapshot, network, [...advances.flatMap(({ blocks }) => blocks), ...blocks]),
  };
}

/** Names the delegates of the rounds of blocks, as far as they generated these blocks. */
async function readRounds(
  { rounds }: Snapshot,
  network: Network,
  blocks: readonly StoredBlock[],
): Promise<Proof["rounds"]> {
  const { roundAt } = createRounds(network);
  const byRound = Map.groupBy(blocks, ({ height }) => roundAt(height).round);
  const named: { round: number; delegates: (string | null)[] }[] = [];
  for (const [round, ofRound] of [...byRound].sort(([one], [other]) => one - other)) {
    const generators = new Set(ofRound.map(({ generatorPublicKey }) => generatorPublicKey));
    const ranked = (await rounds.delegates(round)) ?? [];
    const delegates = ranked.map(({ publicKey }) => (generators.has(publicKey) ? publicKey : null));
    named.push({ round, delegates });
  }
  return named;
}

/** A block on the chain, and one of its transactions if the fact is about it. */
export type ProvenFact = {
  readonly height: number;
  readonly blockId: string;
  readonly transactionId: string | undefined;
  /** Number of blocks above the block that the proof may contain; all of them are on the chain. */
  readonly blocksAbove: number;
};

/**
 * Returns a proof that the block is final, or that it contains the transaction if too few delegates signed these blocks.
 * The same fact has the same proof until its block is reverted. Undefined if the chain does not have the block, or the block
 * has no proof.
 *
 * @throws {SnapshotError}
 */
export type ProveFact = (fact: ProvenFact) => Promise<Proof | undefined>;

/** Rounds of blocks above a block in which a quorum must have signed. */
const ROUNDS_ABOVE = 3;

export const createProveFact =
  (readModel: Pick<ReadModel, "snapshot">, network: Network): ProveFact =>
  ({ height, blockId, transactionId, blocksAbove }) =>
    readModel.snapshot(async (state) => {
      const above = createBlocksAbove(state, network);
      if (!above.isProvable(height)) return undefined;
      const { maxDelegates } = above.roundAt(height);
      const blocks = await above.blocks(height, 1 + Math.min(blocksAbove, ROUNDS_ABOVE * maxDelegates));
      const [block] = blocks;
      if (block?.id !== blockId) return undefined;
      const transaction =
        transactionId === undefined ? undefined : await state.transactions.bytesById(transactionId);
      // Too few signers prove nothing that the block alone does not prove.
      const final = upToQuorum(blocks, trustOf(blocks, 0, maxDelegates)) ?? [block];
      return assembleProof(state, network, { blocks: final, advances: [], transaction });
    });
