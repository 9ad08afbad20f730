/**
 * Finds the first index below `count` that passes a test which all later indexes pass, too; `count` if none does. The
 * test is called about log2(`count`) times.
 */
export function firstIndex(count: number, test: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Finds the first item that passes a test which all later items pass, too; the length of the list if none does. */
export const firstItemIndex = <T>(items: readonly T[], test: (item: T) => boolean): number =>
  firstIndex(items.length, (index) => test(items[index] as T));

/** A larger piece is divided into halves. */
const MAX_PIECE = 256;

/** A sorted list, divided into pieces so that a change moves few items. */
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
