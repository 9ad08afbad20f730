/** Random values that are the same for the same seed. */

export type Random = {
  /** Draws a number in [0, limit). */
  below(limit: number): number;
  /** Draws an integer, both ends included. */
  integer(minimum: number, maximum: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
};

export function createDraws(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    // A linear congruential generator modulo 2^32 with full period; only the upper bits are used.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  }
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
