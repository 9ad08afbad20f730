/** Blocks that become final when a further block is signed (events.md 3.1): a quorum of delegates signed at or above them. */
import { type BlockHeader, createRounds, type Network, quorumOf } from "@uniknode/protocol";
import type { FinalBlock } from "../events/block-events.ts";

export type Finality = {
  /**
   * Returns the blocks that this block makes final, ascending: usually one. A quorum that takes more than three rounds is not
   * noticed; each later final block includes all blocks below it.
   *
   * @param header block on top of the former one, or of the chain that `readHeader` reads
   */
  follow(header: BlockHeader): FinalBlock[];
};

/** Number of rounds within which a quorum must sign, as in proofs. */
export const ROUNDS = 3;

/** @param readHeader reads a block of the chain */
export function createFinality(
  network: Network,
  readHeader: (height: number) => BlockHeader | undefined,
): Finality {
  const { roundAt } = createRounds(network);
  /** Consecutive headers, ascending. */
  let recent: BlockHeader[] = [];

  /** Prepends the parent of the oldest header; returns false if it is not on this chain. */
  function extendDown(): boolean {
    const [oldest] = recent;
    const parent = oldest && readHeader(oldest.height - 1);
    if (parent?.id !== oldest?.previousBlock) return false;
    if (parent) recent.unshift(parent);
    return parent !== undefined;
  }

  return {
    follow(header) {
      if (recent.at(-1)?.id !== header.previousBlock) recent = [];
      recent.push(header);
      const limit = ROUNDS * roundAt(header.height).maxDelegates;
      if (recent.length > 2 * limit) recent = recent.slice(-limit);
      const before = new Set<string>();
      const final: FinalBlock[] = [];
      for (let depth = 0; depth < limit; depth++) {
        if (depth >= recent.length && !extendDown()) break;
        const block = recent.at(-1 - depth);
        // The genesis block is not signed by a delegate.
        if (!block || block.height === 1) break;
        if (depth > 0) before.add(block.generatorPublicKey);
        const quorum = quorumOf(roundAt(block.height).maxDelegates);
        if (before.size >= quorum) break;
        const isNew = !before.has(header.generatorPublicKey);
        if (isNew && before.size + 1 >= quorum) final.unshift({ name: "block.finalized", header: block });
      }
      return final;
    },
  };
}
