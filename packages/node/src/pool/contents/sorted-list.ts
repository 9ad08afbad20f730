/** A sorted list, divided into pieces so that a change moves few items. */
import { firstItemIndex } from "../../platform/binary-search.ts";

/** A larger piece is divided into halves. */
const MAX_PIECE = 256;

export class SortedList<T> {
  readonly #isBefore: (left: T, right: T) => boolean;
  /** No piece is empty. */
  readonly #pieces: T[][] = [];

  /** @param isBefore a strict order: of two different items, one is before the other */
  constructor(isBefore: (left: T, right: T) => boolean) {
    this.#isBefore = isBefore;
  }

  insert(item: T): void {
    const index = Math.max(0, Math.min(this.#pieceIndex(item), this.#pieces.length - 1));
    const piece = this.#pieces[index] ?? [];
    this.#pieces[index] = piece;
    piece.splice(this.#indexIn(piece, item), 0, item);
    if (piece.length > MAX_PIECE) this.#pieces.splice(index + 1, 0, piece.splice(MAX_PIECE / 2));
  }

  /** The item itself must be in the list. */
  remove(item: T): void {
    const index = this.#pieceIndex(item);
    const piece = this.#pieces[index];
    piece?.splice(this.#indexIn(piece, item), 1);
    if (piece?.length === 0) this.#pieces.splice(index, 1);
  }

  *values(): Iterable<T> {
    for (const piece of this.#pieces) yield* piece;
  }

  /** Iterates from the last item to the first. */
  *reversed(): Iterable<T> {
    for (const piece of this.#pieces.toReversed()) yield* piece.toReversed();
  }

  /** The first piece whose end is not before the item. */
  #pieceIndex(item: T): number {
    return firstItemIndex(this.#pieces, (piece) => {
      const last = piece.at(-1);
      return last !== undefined && !this.#isBefore(last, item);
    });
  }

  #indexIn(piece: readonly T[], item: T): number {
    return firstItemIndex(piece, (other) => !this.#isBefore(other, item));
  }
}
