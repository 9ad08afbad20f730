/** Suggestions for a name that was mistyped. */

/** Longer names are no typing mistakes, and would take long to compare. */
const MAX_LENGTH = 64;

/**
 * The known names that differ from the given one in few characters, the nearest first.
 *
 * @param maxCount number of names
 */
export function nearest(name: string, known: readonly string[], maxCount = 1): string[] {
  if (name.length > MAX_LENGTH) return [];
  const maxDistance = Math.max(1, Math.floor(name.length / 3));
  return known
    .map((candidate) => ({ candidate, distance: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= maxDistance)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, maxCount)
    .map(({ candidate }) => candidate);
}

/** Characters to insert, delete or replace (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}
