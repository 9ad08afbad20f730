import { createRounds, type Milestone } from "@uniknode/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const roundsOf = (...segments: [height: number, activeDelegates: number][]) =>
  createRounds({
    milestones: segments.map(([height, activeDelegates]) => ({ height, activeDelegates }) as Milestone),
  });

describe("rounds", () => {
  test("Height 1 opens round 1, which includes the genesis block.", () => {
    const { roundAt } = roundsOf([1, 3]);
    expect(roundAt(1)).toEqual({
      round: 1,
      roundHeight: 1,
      nextRound: 1,
      maxDelegates: 3,
      isNewRound: true,
    });
    expect(roundAt(3)).toMatchObject({ round: 1, nextRound: 2, isNewRound: false });
    expect(roundAt(4)).toMatchObject({ round: 2, roundHeight: 4, isNewRound: true });
  });

  test("Milestones that do not change the number do not start a segment.", () => {
    expect(roundsOf([1, 3], [5, 3], [31, 6]).roundAt(7)).toMatchObject({ round: 3, roundHeight: 7 });
  });

  test("Every height follows from the previous one.", () => {
    const change = fc.record({
      size: fc.integer({ min: 1, max: 7 }),
      rounds: fc.integer({ min: 1, max: 4 }),
    });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 5 }), (changes) => {
        let start = 1;
        const segments = changes.map(({ size, rounds }): [number, number] => {
          const segment: [number, number] = [start, size];
          start += size * rounds;
          return segment;
        });
        const { roundAt } = roundsOf(...segments);
        for (let height = 2; height < start + 10; height++) {
          const [previous, current] = [roundAt(height - 1), roundAt(height)];
          expect(current.round).toBe(previous.nextRound);
          const isNew = height - previous.roundHeight === previous.maxDelegates;
          expect(current.isNewRound).toBe(isNew);
          expect(current.roundHeight).toBe(isNew ? height : previous.roundHeight);
        }
      }),
    );
  });
});
