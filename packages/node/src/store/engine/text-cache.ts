/**
 * A cache of short texts by number in a fixed amount of memory. Each number has one slot, and takes it from the number that used it
 * before. Strings in a map would take three times the memory, and every garbage collection would visit them
 * (docs/decisions/0071-cache-addresses-in-fixed-memory.md).
 */

/** Number of slots. Addresses take 6 MB if all are used: memory of slots that were never used is not allocated. */
const SLOTS = 131_072;

export type TextCache = {
  has(number: number): boolean;
  get(number: number): string | undefined;
  /** Adds a text, unless it is longer than the slots. */
  set(number: number, text: string): void;
  clear(): void;
};

/**
 * Creates a cache of texts with ASCII characters.
 *
 * @param maxLength characters of a slot, at most 255
 */
export function createTextCache(maxLength: number): TextCache {
  /** Numbers in the slots. Numbers begin at 1: 0 marks a free slot. */
  const numbers = new Float64Array(SLOTS);
  const lengths = new Uint8Array(SLOTS);
  const characters = Buffer.alloc(SLOTS * maxLength);
  let isEmpty = true;
  const has = (number: number) => numbers[number % SLOTS] === number;
  return {
    has,
    get(number) {
      if (!has(number)) return undefined;
      const slot = number % SLOTS;
      const start = slot * maxLength;
      return characters.toString("latin1", start, start + (lengths[slot] ?? 0));
    },
    set(number, text) {
      if (text.length > maxLength) return;
      const slot = number % SLOTS;
      isEmpty = false;
      numbers[slot] = number;
      lengths[slot] = text.length;
      characters.write(text, slot * maxLength, "latin1");
    },
    clear() {
      // Writing zeros would allocate the memory of a cache that was never used.
      if (!isEmpty) numbers.fill(0);
      isEmpty = true;
    },
  };
}
