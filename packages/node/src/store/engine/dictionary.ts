/**
 * Dictionaries: tables that number texts, such as public keys. Other rows contain the number, which takes one to four bytes.
 * Rows are never removed, not even by reverts: equal chains can have different numbers.
 */
import { hexToBytes } from "@uniknode/protocol";
import { present } from "../../platform/present.ts";
import type { Database } from "./database.ts";

/** Public keys of delegates, in rows of blocks and rounds. */
export const GENERATORS: DictionaryTable = {
  table: "generators",
  column: "public_key",
  isHex: true,
  maxLength: 66,
};

/** Public keys. */
export const SENDERS: DictionaryTable = {
  table: "senders",
  column: "public_key",
  isHex: true,
  maxLength: 66,
};
/** Addresses. */
export const RECIPIENTS: DictionaryTable = {
  table: "recipients",
  column: "address",
  isHex: false,
  maxLength: 35,
};

export type Generators = Dictionary;

export const createGenerators = (database: Database): Generators => createDictionary(database, GENERATORS);

export type DictionaryTable = {
  readonly table: string;
  readonly column: string;
  /** True if the texts are hexadecimal, and stored as bytes. */
  readonly isHex: boolean;
  /** Characters of the longest text that is cached. */
  readonly maxLength: number;
};

export type Dictionary = {
  /** Returns the number of a text. A new text gets a row: must be called inside a transaction. */
  numberOf(text: string): number;
  /** @throws {Error} if no text has the number: the row with the number is damaged */
  textOf(number: number): string;
  /**
   * Reads the texts of several numbers with one statement, so that `textOf` has them in the cache. A statement for each text would
   * take seven times as long.
   */
  load(numbers: readonly number[]): void;
  /** Discards the cache. Must be called if a transaction that called `numberOf` fails. */
  reset(): void;
};

/** Maximum number of cached numbers: 3 MB with their addresses or keys. */
const MAX_CACHED = 20_000;
const HEX = /^([0-9a-f]{2})+$/;

export function createDictionary(database: Database, dictionary: DictionaryTable): Dictionary {
  const { table, column, isHex, maxLength } = dictionary;
  const insert = database.prepare(`INSERT INTO ${table} (${column}) VALUES (?)`);
  const find = createNumberLookup(database, dictionary);
  const text = isHex ? `lower(hex(${column}))` : column;
  const select = database.prepare<{ text: string }>(`SELECT ${text} AS text FROM ${table} WHERE number = ?`);
  const selectAll = database.prepare<[number: number, text: string]>(
    `SELECT number, ${text} FROM json_each(?) CROSS JOIN ${table} ON number = value`,
    { arrays: true },
  );
  const numbers = new Map<string, number>();
  const texts = createTextCache(maxLength);
  return {
    numberOf(text) {
      const cached = numbers.get(text);
      if (cached !== undefined) return cached;
      const number = find(text) ?? Number(insert.run(isHex ? hexToBytes(text) : text).lastInsertRowid);
      // Tracking recent use would cost more than occasionally reading all rows again.
      if (numbers.size >= MAX_CACHED) numbers.clear();
      numbers.set(text, number);
      return number;
    },
    textOf(number) {
      const cached = texts.get(number);
      if (cached !== undefined) return cached;
      const { text } = present(select.get(number), `the row of ${table} with the number ${number}`);
      texts.set(number, text);
      return text;
    },
    load(wanted) {
      const missing = wanted.filter((number) => !texts.has(number));
      if (missing.length === 0) return;
      for (const [number, text] of selectAll.all(JSON.stringify(missing))) texts.set(number, text);
    },
    reset() {
      numbers.clear();
      texts.clear();
    },
  };
}

/** Returns a function that finds the number of a text; undefined if it has none. */
export function createNumberLookup(
  database: Database,
  { table, column, isHex }: DictionaryTable,
): (text: string) => number | undefined {
  const select = database.prepare<{ number: number }>(`SELECT number FROM ${table} WHERE ${column} = ?`);
  return (text) => {
    if (!isHex) return select.get(text)?.number;
    return HEX.test(text) ? select.get(hexToBytes(text))?.number : undefined;
  };
}

/** Maximum number of slots. Addresses take 6 MB if all are used. */
const MAX_SLOTS = 131_072;
/** A small chain needs no more, and tests open many of them. */
const FIRST_SLOTS = 1_024;

type TextCache = {
  has(number: number): boolean;
  get(number: number): string | undefined;
  /** Adds a text, unless it is longer than the slots. */
  set(number: number, text: string): void;
  clear(): void;
};

/**
 * Creates a cache of short texts with ASCII characters by number, in a bounded amount of memory. Each number has one slot, and
 * takes it from the number that used it before. Strings in a map would take three times the memory, and every garbage collection
 * would visit them (docs/decisions/0056-store-the-header-of-a-block-once.md).
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
