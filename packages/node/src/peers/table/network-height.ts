/** Height of the network: the median of the heights that peers claim (p2p.md 13); 0 without peers. */
export function networkHeight(heights: readonly number[]): number {
  const known = heights.filter((height) => height > 0).toSorted((a, b) => a - b);
  return known[Math.floor(known.length / 2)] ?? 0;
}
