/** Height of the network: the middle one of the heights that peers tell (p2p.md 13); 0 if there is none. */
export function networkHeight(heights: readonly number[]): number {
  const known = heights.filter((height) => height > 0).toSorted((a, b) => a - b);
  return known[Math.floor(known.length / 2)] ?? 0;
}
