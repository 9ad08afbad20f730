/**
 * Dictionaries: tables that number texts, such as public keys. Other rows contain the number, which takes one to four bytes.
 * Rows are never removed, not even by reverts: equal chains can have different numbers.
 */
import { hexToBytes } from "@uniknode/protocol";
import { present } from "../../platform/present.ts";
import type { Database, Statement } from "./database.ts";

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

export type DictionaryTable = {
  readonly table: string;
  readonly column: string;
  /** True if the texts are hexadecimal, and stored as bytes. */
  readonly isHex: boolean;
  /** Characters of the longest text that is cached. */
  readonly maxLength: number;
};

/** Maximum number of cached numbers: 3 MB with their addresses or keys. */
const MAX_CACHED = 20_000;
const HEX = /^([0-9a-f]{2})+$/;

export class Dictionary {
  readonly #dictionary: DictionaryTable;
  readonly #insert: Statement<unknown>;
  readonly #find: (text: string) => number | undefined;
  readonly #select: Statement<{ text: string }>;
  readonly #selectAll: Statement<[number: number, text: string]>;
  readonly #numbers = new Map<string, number>();
  readonly #texts: TextCache;

  constructor(database: Database, dictionary: DictionaryTable) {
    const { table, column, isHex, maxLength } = dictionary;
    const text = isHex ? `lower(hex(${column}))` : column;
    this.#dictionary = dictionary;
    this.#insert = database.prepare(`INSERT INTO ${table} (${column}) VALUES (?)`);
    this.#find = createNumberLookup(database, dictionary);
    this.#select = database.prepare(`SELECT ${text} AS text FROM ${table} WHERE number = ?`);
    this.#selectAll = database.prepare(
      `SELECT number, ${text} FROM json_each(?) CROSS JOIN ${table} ON number = value`,
      { arrays: true },
    );
    this.#texts = new TextCache(maxLength);
  }

  /** Returns the number of a text. A new text gets a row: must be called inside a transaction. */
  numberOf(text: string): number {
    const numbers = this.#numbers;
    const cached = numbers.get(text);
    if (cached !== undefined) return cached;
    const number = this.#find(text) ?? this.#add(text);
    // Tracking recent use would cost more than occasionally reading all rows again.
    if (numbers.size >= MAX_CACHED) numbers.clear();
    numbers.set(text, number);
    return number;
  }

  /** @throws {Error} if no text has the number: the row with the number is damaged */
  textOf(number: number): string {
    const cached = this.#texts.get(number);
    if (cached !== undefined) return cached;
    const { table } = this.#dictionary;
    const { text } = present(this.#select.get(number), `the row of ${table} with the number ${number}`);
    this.#texts.set(number, text);
    return text;
  }

  /**
   * Reads the texts of several numbers with one statement, so that `textOf` has them in the cache. A statement for each text would
   * take seven times as long.
   */
  load(numbers: readonly number[]): void {
    const missing = numbers.filter((number) => !this.#texts.has(number));
    if (missing.length === 0) return;
    for (const [number, text] of this.#selectAll.all(JSON.stringify(missing))) this.#texts.set(number, text);
  }

  /** Discards the cache. Must be called if a transaction that called `numberOf` fails. */
  reset(): void {
    this.#numbers.clear();
    this.#texts.clear();
  }

  #add(text: string): number {
    return Number(this.#insert.run(this.#dictionary.isHex ? hexToBytes(text) : text).lastInsertRowid);
  }
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

/**
 * Cache of short texts with ASCII characters by number, in a bounded amount of memory. Each number has one slot, and
 * takes it from the number that used it before. Strings in a map would take three times the memory, and every garbage collection
 * would visit them (docs/decisions/0056-store-the-header-of-a-block-once.md).
 */
export class TextCache {
  readonly #maxLength: number;
  #slots: Slots;

  /** @param maxLength characters of a slot, at most 255 */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
    this.#slots = createSlots(FIRST_SLOTS, maxLength);
  }

  has(number: number): boolean {
    const { numbers, count } = this.#slots;
    return numbers[number % count] === number;
  }

  get(number: number): string | undefined {
    if (!this.has(number)) return undefined;
    const { count, lengths, characters } = this.#slots;
    const slot = number % count;
    const start = slot * this.#maxLength;
    return characters.toString("latin1", start, start + (lengths[slot] ?? 0));
  }

  /** Adds a text, unless it is longer than the slots. */
  set(number: number, text: string): void {
    if (text.length > this.#maxLength) return;
    while (number >= this.#slots.count && this.#slots.count < MAX_SLOTS)
      this.#slots = doubled(this.#slots, this.#maxLength);
    const { count, numbers, lengths, characters } = this.#slots;
    const slot = number % count;
    numbers[slot] = number;
    lengths[slot] = text.length;
    characters.write(text, slot * this.#maxLength, "latin1");
  }

  clear(): void {
    this.#slots = createSlots(FIRST_SLOTS, this.#maxLength);
  }
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
