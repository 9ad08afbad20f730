/** Maps heights to rounds (consensus.md 2). */
import type { Milestone } from "../networks/network.ts";
import { present } from "../present.ts";

export type RoundInfo = {
  /** Number of the round, from 1. */
  readonly round: number;
  /** First height of the round. */
  readonly roundHeight: number;
  /** Round of the next height. */
  readonly nextRound: number;
  /** Number of active delegates, which is the number of blocks of the round. */
  readonly maxDelegates: number;
  /** True if the height opens its round. */
  readonly isNewRound: boolean;
};

export type Rounds = {
  /** `height` is 1 or more. */
  roundAt(height: number): RoundInfo;
};

/** Numbers of delegates, ascending by height; a network has them. */
type RoundSizes = {
  readonly milestones: readonly Pick<Milestone, "height" | "activeDelegates">[];
};

/** A range of heights with the same number of delegates. */
type Segment = { readonly start: number; readonly size: number; readonly roundsBefore: number };

export function createRounds({ milestones }: RoundSizes): Rounds {
  const segments: Segment[] = [];
  for (const { height, activeDelegates } of milestones) {
    const last = segments.at(-1);
    if (last?.size === activeDelegates) continue;
    // A change is allowed at the start of a round only, so the quotient is a whole number.
    const roundsBefore = last ? last.roundsBefore + (height - last.start) / last.size : 0;
    segments.push({ start: height, size: activeDelegates, roundsBefore });
  }

  const segmentAt = (height: number): Segment =>
    segments.findLast(({ start }) => start <= height) ?? present(segments[0], "the first milestone");

  return {
    roundAt(height) {
      const { start, size, roundsBefore } = segmentAt(height);
      const index = Math.floor((height - start) / size);
      const round = roundsBefore + index + 1;
      const roundHeight = start + index * size;
      const isLast = height === roundHeight + size - 1;
      return {
        round,
        roundHeight,
        nextRound: isLast ? round + 1 : round,
        maxDelegates: size,
        isNewRound: height === roundHeight,
      };
    },
  };
}

/** Two thirds of the delegates, rounded up: 16 of 23. As many signers make a block final (proofs.md). */
export const quorumOf = (delegates: number): number => Math.ceil((2 * delegates) / 3);
