/** A list that stays sorted, cut into pieces so that a change moves few of its items. */

export type SortedList<T> = {
  insert(item: T): void;
  /** The item itself must be in the list. */
  remove(item: T): void;
  values(): Iterable<T>;
  /** From the last one on. */
  reversed(): Iterable<T>;
};

/** Half of it is what a piece holds after it was cut. */
const MAX_PIECE = 256;

/** @param isBefore a strict order: of two different items, one is before the other */
export function createSortedList<T>(isBefore: (left: T, right: T) => boolean): SortedList<T> {
  /** None is empty. */
  const pieces: T[][] = [];

  /** The first piece whose end is not before the item. */
  const pieceOf = (item: T): number => firstIndex(pieces, (piece) => !isBefore(piece.at(-1)!, item));
  const placeOf = (piece: readonly T[], item: T): number =>
    firstIndex(piece, (other) => !isBefore(other, item));

  return {
    insert(item) {
      const index = Math.max(0, Math.min(pieceOf(item), pieces.length - 1));
      const piece = pieces[index] ?? [];
      pieces[index] = piece;
      piece.splice(placeOf(piece, item), 0, item);
      if (piece.length > MAX_PIECE) pieces.splice(index + 1, 0, piece.splice(MAX_PIECE / 2));
    },
    remove(item) {
      const index = pieceOf(item);
      const piece = pieces[index]!;
      piece.splice(placeOf(piece, item), 1);
      if (piece.length === 0) pieces.splice(index, 1);
    },
    *values() {
      for (const piece of pieces) yield* piece;
    },
    *reversed() {
      for (const piece of pieces.toReversed()) yield* piece.toReversed();
    },
  };
}

/** Index of the first item that satisfies a test which, once satisfied, stays so; the length if there is none. */
function firstIndex<T>(items: readonly T[], test: (item: T) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(items[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}
