/** Finds the known names that a misspelt name probably meant. */

/** Longer names are compared by their begin. */
const MAX_LENGTH = 64;

/** The most similar of the known names; undefined when none is similar enough to be meant. */
export const mostSimilar = (name: string, known: readonly string[]): string | undefined =>
  similarNames(name, known)[0];

/** The known names that are similar enough to be meant, the most similar first. */
export function similarNames(name: string, known: readonly string[]): string[] {
  const wanted = name.slice(0, MAX_LENGTH).toLowerCase();
  // A third of the letters may be wrong.
  const maxDistance = Math.ceil(wanted.length / 3);
  return known
    .map((name) => ({ name, distance: editDistance(wanted, name.slice(0, MAX_LENGTH).toLowerCase()) }))
    .filter(({ distance }) => distance <= maxDistance)
    .sort((a, b) => a.distance - b.distance)
    .map(({ name }) => name);
}

/** Characters to insert, delete, replace, or swap with their neighbour, until the texts are the same. */
function editDistance(left: string, right: string): number {
  let [beforeLast, last]: [readonly number[], readonly number[]] = [
    [],
    Array.from({ length: right.length + 1 }, (_, index) => index),
  ];
  for (let row = 1; row <= left.length; row++) {
    let distance = row;
    const current = [distance];
    for (let column = 1; column <= right.length; column++) {
      const isSame = left[row - 1] === right[column - 1];
      const isSwapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      distance = Math.min(
        at(last, column) + 1,
        distance + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
        isSwapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
      current.push(distance);
    }
    [beforeLast, last] = [last, current];
  }
  return at(last, right.length);
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY;
