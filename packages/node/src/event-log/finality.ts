/** Blocks that become final when a further block is signed (events.md 3.1): a quorum of delegates signed at or above them. */
import { type BlockHeader, createRounds, type Network, quorumOf, type Rounds } from "@uniknode/protocol";
import type { FinalBlock } from "../events/block-events.ts";

/** Number of rounds within which a quorum must sign, as in proofs. */
export const ROUNDS = 3;

export class Finality {
  readonly #readHeader: (height: number) => BlockHeader | undefined;
  readonly #roundAt: Rounds["roundAt"];
  /** Consecutive headers, ascending. */
  #recent: BlockHeader[] = [];

  /** @param readHeader reads a block of the chain */
  constructor(network: Network, readHeader: (height: number) => BlockHeader | undefined) {
    this.#readHeader = readHeader;
    this.#roundAt = createRounds(network).roundAt;
  }

  /**
   * Returns the blocks that this block makes final, ascending: usually one. A quorum that takes more than three rounds is not
   * noticed; each later final block includes all blocks below it.
   *
   * @param header block on top of the former one, or of the chain that `readHeader` reads
   */
  follow(header: BlockHeader): FinalBlock[] {
    if (this.#recent.at(-1)?.id !== header.previousBlock) this.#recent = [];
    this.#recent.push(header);
    const limit = ROUNDS * this.#roundAt(header.height).maxDelegates;
    if (this.#recent.length > 2 * limit) this.#recent = this.#recent.slice(-limit);
    const before = new Set<string>();
    const final: FinalBlock[] = [];
    for (let depth = 0; depth < limit; depth++) {
      if (depth >= this.#recent.length && !this.#extendDown()) break;
      const block = this.#recent.at(-1 - depth);
      // The genesis block is not signed by a delegate.
      if (!block || block.height === 1) break;
      if (depth > 0) before.add(block.generatorPublicKey);
      const quorum = quorumOf(this.#roundAt(block.height).maxDelegates);
      if (before.size >= quorum) break;
      const isNew = !before.has(header.generatorPublicKey);
      if (isNew && before.size + 1 >= quorum) final.unshift({ name: "block.finalized", header: block });
    }
    return final;
  }

  /** Prepends the parent of the oldest header; returns false if it is not on this chain. */
  #extendDown(): boolean {
    const [oldest] = this.#recent;
    const parent = oldest && this.#readHeader(oldest.height - 1);
    if (parent?.id !== oldest?.previousBlock) return false;
    if (parent) this.#recent.unshift(parent);
    return parent !== undefined;
  }
}
