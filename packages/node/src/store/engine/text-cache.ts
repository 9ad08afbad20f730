/**
 * A cache of short texts by number in a bounded amount of memory. Each number has one slot, and takes it from the number that used it
 * before. Strings in a map would take three times the memory, and every garbage collection would visit them
 * (docs/decisions/0071-cache-addresses-in-fixed-memory.md).
 */

/** Maximum number of slots. Addresses take 6 MB if all are used. */
const MAX_SLOTS = 131_072;
/** A small chain needs no more, and tests open many of them. */
const FIRST_SLOTS = 1_024;

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
  let slots = createSlots(FIRST_SLOTS, maxLength);
  const has = (number: number) => slots.numbers[number % slots.count] === number;
  return {
    has,
    get(number) {
      if (!has(number)) return undefined;
      const slot = number % slots.count;
      const start = slot * maxLength;
      return slots.characters.toString("latin1", start, start + (slots.lengths[slot] ?? 0));
    },
    set(number, text) {
      if (text.length > maxLength) return;
      while (number >= slots.count && slots.count < MAX_SLOTS) slots = doubled(slots, maxLength);
      const slot = number % slots.count;
      slots.numbers[slot] = number;
      slots.lengths[slot] = text.length;
      slots.characters.write(text, slot * maxLength, "latin1");
    },
    clear() {
      slots = createSlots(FIRST_SLOTS, maxLength);
    },
  };
}

type Slots = {
  readonly count: number;
  /** Numbers begin at 1: 0 marks a free slot. */
  readonly numbers: Float64Array;
  readonly lengths: Uint8Array;
  readonly characters: Buffer;
};

const createSlots = (count: number, maxLength: number): Slots => ({
  count,
  numbers: new Float64Array(count),
  lengths: new Uint8Array(count),
  characters: Buffer.alloc(count * maxLength),
});

/** Copies the slots. Each number keeps its slot: until now, all numbers were less than the number of slots. */
function doubled({ count, numbers, lengths, characters }: Slots, maxLength: number): Slots {
  const slots = createSlots(2 * count, maxLength);
  slots.numbers.set(numbers);
  slots.lengths.set(lengths);
  slots.characters.set(characters);
  return slots;
}
