/** Search for the highest block that two nodes have in common (p2p.md 10.4 step 4). */

const PARTS = 8;

/**
 * Yields the heights to request, ascending and at most nine. Receives the highest of them that the peer has,
 * or undefined. Returns the highest common height found.
 */
export function* searchCommonHeight(
  lowest: number,
  highest: number,
): Generator<number[], number | undefined, number | undefined> {
  let [low, high] = [lowest, highest];
  let best: number | undefined;
  while (low <= high) {
    const heights = probeHeights(low, high);
    const common = yield heights;
    if (common === undefined) return best;
    best = common;
    const next = heights[heights.indexOf(common) + 1];
    if (low + PARTS >= high || next === undefined || next === common + 1) return best;
    [low, high] = [common + 1, next - 1];
  }
  return best;
}

function probeHeights(low: number, high: number): number[] {
  const heights = Array.from(
    { length: PARTS + 1 },
    (_, part) => low + Math.round(((high - low) * part) / PARTS),
  );
  return [...new Set(heights)];
}
