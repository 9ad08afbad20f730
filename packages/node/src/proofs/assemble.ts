/** The members of a proof, from the blocks that it contains (proofs.md 3). */
import type { Proof } from "@uniknode/client/proofs";
import { createRounds, type Network } from "@uniknode/protocol";
import type { Snapshot } from "../read/port.ts";
import type { StoredBlock } from "../read/rows.ts";
import { headerText } from "./blocks-above.ts";

export type ProofContents = {
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
