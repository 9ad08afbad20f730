/** A sorted list, divided into pieces so that a change moves few items. */
import { firstItemIndex } from "../../platform/binary-search.ts";

export type SortedList<T> = {
  insert(item: T): void;
  /** The item itself must be in the list. */
  remove(item: T): void;
  values(): Iterable<T>;
  /** Iterates from the last item to the first. */
  reversed(): Iterable<T>;
};

/** A larger piece is divided into halves. */
const MAX_PIECE = 256;

/** @param isBefore a strict order: of two different items, one is before the other */
export function createSortedList<T>(isBefore: (left: T, right: T) => boolean): SortedList<T> {
  /** No piece is empty. */
  const pieces: T[][] = [];

  /** The first piece whose end is not before the item. */
  const pieceIndex = (item: T): number =>
    firstItemIndex(pieces, (piece) => {
      const last = piece.at(-1);
      return last !== undefined && !isBefore(last, item);
    });
  const indexIn = (piece: readonly T[], item: T): number =>
    firstItemIndex(piece, (other) => !isBefore(other, item));

  return {
    insert(item) {
      const index = Math.max(0, Math.min(pieceIndex(item), pieces.length - 1));
      const piece = pieces[index] ?? [];
      pieces[index] = piece;
      piece.splice(indexIn(piece, item), 0, item);
      if (piece.length > MAX_PIECE) pieces.splice(index + 1, 0, piece.splice(MAX_PIECE / 2));
    },
    remove(item) {
      const index = pieceIndex(item);
      const piece = pieces[index];
      piece?.splice(indexIn(piece, item), 1);
      if (piece?.length === 0) pieces.splice(index, 1);
    },
    *values() {
      for (const piece of pieces) yield* piece;
    },
    *reversed() {
      for (const piece of pieces.toReversed()) yield* piece.toReversed();
    },
  };
}
