/** Blocks become final when generators of two thirds of the delegates have signed at or above them. */
import { type BlockHeader, createNetwork, livenet } from "@uniknode/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Finality } from "../../src/event-log/finality.ts";
import { present } from "../../src/platform/present.ts";

const SIZE = 4;
const QUORUM = 3;
const network = createNetwork({
  ...livenet,
  milestones: [{ ...present(livenet.milestones[0]), activeDelegates: SIZE }],
});

/** Returns a chain of these generators; the first block is the genesis block. */
const chainOf = (generators: readonly number[]): BlockHeader[] => {
  const idOf = (height: number) => generators.slice(0, height).join();
  return generators.map((generator, index) => ({
    ...{ height: index + 1, id: idOf(index + 1), previousBlock: idOf(index) },
    generatorPublicKey: `${generator}`,
  })) as BlockHeader[];
};

/** Returns, for each block, the heights of the blocks that it makes final, by the definition. */
function finalByDefinition(chain: readonly BlockHeader[]): number[][] {
  const signers = (from: number, to: number) =>
    new Set(chain.slice(from - 1, to).map(({ generatorPublicKey }) => generatorPublicKey)).size;
  return chain.map(({ height }) => {
    const heights = Array.from({ length: height }, (_, index) => index + 1);
    return heights.filter(
      (low) =>
        low > 1 &&
        low > height - 3 * SIZE &&
        signers(low, height) >= QUORUM &&
        signers(low, height - 1) < QUORUM,
    );
  });
}

const follow = (chain: readonly BlockHeader[], from = 1, read = chain): number[][] => {
  const finality = new Finality(network, (height) => read[height - 1]);
  return chain.slice(from - 1).map((header) => finality.follow(header).map(({ header }) => header.height));
};

const generators = fc.array(fc.integer({ min: 0, max: SIZE - 1 }), { minLength: 1, maxLength: 80 });

test("Each block is final once, with the block that completes its quorum.", () => {
  fc.assert(
    fc.property(generators, fc.nat(), (list, start) => {
      const chain = chainOf(list);
      const expected = finalByDefinition(chain);
      expect(follow(chain)).toEqual(expected);
      const from = 1 + (start % chain.length);
      expect(follow(chain, from)).toEqual(expected.slice(from - 1));
    }),
  );
});

test("After a reorganisation, the signers of the abandoned branch do not count.", () => {
  const [before, after] = [chainOf([0, 0, 1, 1, 2]), chainOf([0, 0, 1, 1, 1, 3])];
  const finality = new Finality(network, (height) => after[height - 1]);
  const heights = (header: BlockHeader) => finality.follow(header).map(({ header }) => header.height);
  expect(before.flatMap(heights)).toEqual([2]);
  expect(after.slice(4).flatMap(heights)).toEqual([2]);
});

test("A block whose quorum takes longer than three rounds is final with a block above it.", () => {
  const outage = [0, 1, ...Array.from({ length: 20 }, () => 2)];
  expect(follow(chainOf([...outage, 3, 1])).flat()).not.toContain(3);
  expect(follow(chainOf([...outage, 3, 1])).at(-1)?.length).toBeGreaterThan(0);
});

test("Blocks that cannot be read are left out.", () => {
  const chain = chainOf([0, 0, 1, 2, 0, 1, 2]);
  expect(follow(chain, 5, [])).toEqual([[], [], [5]]);
});
