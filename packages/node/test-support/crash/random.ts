/** Numbers in [0, 1) that are the same for the same seed. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    // A linear congruential generator modulo 2^32 with full period; only the upper bits are used.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
