/** Bytes that arrive piece by piece, in memory that follows what has arrived and not what was announced. */

export type GatheredBytes = {
  length(): number;
  /** Copies a piece behind the others and answers the copy. */
  append(piece: Uint8Array): Uint8Array;
  /** All bytes; the next piece begins anew. */
  take(): Uint8Array;
};

const NOTHING = new Uint8Array();

export function createGatheredBytes(): GatheredBytes {
  let buffer = NOTHING;
  let length = 0;
  return {
    length: () => length,
    append: (piece) => {
      const end = length + piece.length;
      if (end > buffer.length) {
        const grown = new Uint8Array(length === 0 ? end : Math.max(end, 2 * buffer.length));
        grown.set(buffer.subarray(0, length));
        buffer = grown;
      }
      buffer.set(piece, length);
      const copy = buffer.subarray(length, end);
      length = end;
      return copy;
    },
    take: () => {
      const all = buffer.subarray(0, length);
      buffer = NOTHING;
      length = 0;
      return all;
    },
  };
}
