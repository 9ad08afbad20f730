/** Caches the facts of consecutive blocks within a bound. */
import type { BlockHeader } from "@uniknode/protocol";
import type { FinalBlock } from "../../events/block-events.ts";
import type { PastFact } from "../past-facts.ts";

export type BlockFacts = {
  readonly header: BlockHeader;
  readonly facts: readonly (PastFact | FinalBlock)[];
};

/**
 * The facts of consecutive blocks of one branch, ascending. They follow from the id of the last one: an id depends on the whole
 * chain below it.
 */
export type Run = {
  readonly blocks: readonly BlockFacts[];
  /** Usernames of the delegates by public key. */
  readonly usernames: ReadonlyMap<string, string>;
};

export type Runs = {
  /** Returns the latest run with a height. */
  at(height: number): Run | undefined;
  add(run: Run): void;
  remove(run: Run): void;
};

export const blockOf = ({ blocks }: Run, height: number): BlockFacts | undefined =>
  blocks[height - (blocks[0]?.header.height ?? 0)];

/** @param maxFacts runs that were added earlier are removed above this number of facts */
export function createRuns(maxFacts: number): Runs {
  /** The last one was added first. */
  let runs: Run[] = [];
  return {
    at: (height) => runs.find((run) => blockOf(run, height)),
    add(run) {
      let count = 0;
      runs = [run, ...runs].filter(({ blocks }) => {
        count += blocks.reduce((sum, { facts }) => sum + facts.length, 0);
        return count <= maxFacts;
      });
    },
    remove(run) {
      runs = runs.filter((other) => other !== run);
    },
  };
}
