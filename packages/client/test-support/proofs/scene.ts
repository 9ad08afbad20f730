/** A network whose chain an attacker has seen completely, and of whose delegates a third work for the attacker. */
import { quorumOf } from "@uniknode/protocol";
import {
  createWorld,
  type Key,
  keysOf,
  type Parent,
  startOf,
  type TestBlock,
  transactionOf,
  type World,
} from "./world.ts";

export type Random = {
  /** Returns an integer below a bound. */
  below(bound: number): number;
  pick<T>(list: readonly T[]): T;
  shuffled<T>(list: readonly T[]): T[];
};

/** Deterministic numbers (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function below(bound: number): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  }
  return {
    below,
    pick: <T>(list: readonly T[]): T => list[below(list.length)] as T,
    shuffled: (list) =>
      list
        .map((item) => ({ item, key: below(2 ** 31) }))
        .sort((a, b) => a.key - b.key)
        .map(({ item }) => item),
  };
}

export type Scene = {
  readonly world: World;
  readonly random: Random;
  /** Number of signers that makes a block final. */
  readonly quorum: number;
  /** Number of delegates who may be dishonest. */
  readonly third: number;
  readonly honest: readonly Key[];
  /** Delegates who work for the attacker. */
  readonly bought: readonly Key[];
  /** Creates complete rounds of delegates, one above the other, without missed slots unless a function decides otherwise. */
  rounds(
    delegates: readonly (readonly Key[])[],
    misses?: (key: Key, round: number) => boolean,
  ): TestBlock[][];
  /** Returns true for some slots, in some scenes. */
  misses(): boolean;
  /** Creates blocks of the attacker on a block, each in the next slot of its generator that is later. */
  privateBlocks(parent: Parent, generators: readonly Key[]): TestBlock[];
};

export function createScene(random: Random, size: number): Scene {
  const world = createWorld(size);
  const quorum = quorumOf(size);
  const third = size - quorum;
  const delegates = random.shuffled(keysOf("delegate", size));
  const sometimes = random.below(2) === 0;
  return {
    ...{ world, random, quorum, third },
    honest: delegates.slice(0, quorum),
    bought: delegates.slice(quorum),
    rounds(delegates, misses = () => false) {
      const rounds: TestBlock[][] = [];
      for (const [index, keys] of delegates.entries()) {
        const parent = rounds.at(-1)?.at(-1) ?? startOf(world);
        rounds.push(world.round(parent, random.shuffled(keys), (_, key) => misses(key, index)));
      }
      return rounds;
    },
    misses: () => sometimes && random.below(20) === 0,
    privateBlocks: (parent, generators) => privateBlocks(world, parent, generators),
  };
}

/** The attacker names an order in which each of its keys follows the one before. */
function privateBlocks(world: World, parent: Parent, generators: readonly Key[]): TestBlock[] {
  const blocks: TestBlock[] = [];
  for (const generator of generators) {
    const last = blocks.at(-1) ?? parent;
    // The network has another block, even if the generator is the delegate of the slot.
    blocks.push(world.block(last, last.slot + 1, generator, [transactionOf(`private ${last.id}`)]));
  }
  return blocks;
}
