/** Random values that are the same for the same seed. */

import { createRandom } from "../crash/random.ts";

export type Random = {
  /** Draws a number in [0, limit). */
  below(limit: number): number;
  /** Draws an integer, both ends included. */
  integer(minimum: number, maximum: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
};

export function createDraws(seed: number): Random {
  const next = createRandom(seed);
  const below = (limit: number) => next() * limit;
  const integer = (minimum: number, maximum: number) => minimum + Math.floor(below(maximum - minimum + 1));
  return {
    below,
    integer,
    chance: (probability) => next() < probability,
    // An item may be undefined.
    pick: <T>(from: readonly T[]) => from[integer(0, from.length - 1)] as T,
  };
}
