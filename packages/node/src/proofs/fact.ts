/** Proofs of the facts that deliveries contain (webhooks.md 7.5). */
import type { Proof } from "@uniknode/client/proofs";
import type { Network } from "@uniknode/protocol";
import type { ReadModel } from "../read/port.ts";
import { assembleProof, createBlocksAbove, trustOf, upToQuorum } from "./assemble.ts";

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
  ({ snapshot }: Pick<ReadModel, "snapshot">, network: Network): ProveFact =>
  ({ height, blockId, transactionId, blocksAbove }) =>
    snapshot(async (state) => {
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
