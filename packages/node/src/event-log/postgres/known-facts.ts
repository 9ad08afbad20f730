/** Caches the facts of blocks within a bound, oldest first. */
import type { BlockHeader } from "@uniknode/protocol";
import type { PastFact } from "../past-facts.ts";

/** The facts of a block, which follow from its id: the id depends on the whole chain below it. */
export type BlockFacts = { readonly header: BlockHeader; readonly facts: readonly PastFact[] };

export type KnownFacts = {
  /** Returns the facts of the block that was last added at a height. */
  at(height: number): BlockFacts | undefined;
  add(blocks: readonly BlockFacts[]): void;
  remove(height: number): void;
};

/** @param maxFacts facts of blocks that were added earlier are removed above this number */
export function createKnownFacts(maxFacts: number): KnownFacts {
  /** Blocks by height, in the order in which they were added. */
  const known = new Map<number, BlockFacts>();
  let count = 0;

  function remove(height: number): void {
    count -= known.get(height)?.facts.length ?? 0;
    known.delete(height);
  }

  return {
    at: (height) => known.get(height),
    add(blocks) {
      for (const block of blocks) {
        remove(block.header.height);
        known.set(block.header.height, block);
        count += block.facts.length;
      }
      for (const height of known.keys()) {
        if (count <= maxFacts) return;
        remove(height);
      }
    },
    remove,
  };
}
