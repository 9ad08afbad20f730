/** Random choices that are the same for the same seed. */

export type Random = {
  /** Draws an integer from 0 to `count - 1`. */
  below(count: number): number;
  /** Returns true in one of `count` cases. */
  oneIn(count: number): boolean;
  pick<T>(items: readonly T[]): T;
};

/** Mulberry32: 32 bits of state, good enough to mix cases. */
export function createRandom(seed: number): Random {
  let state = seed;
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  }
  const below = (count: number) => Math.floor(next() * count);
  return {
    below,
    oneIn: (count) => below(count) === 0,
    // An item may be undefined.
    pick: <T>(items: readonly T[]) => items[below(items.length)] as T,
  };
}
