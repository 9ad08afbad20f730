/**
 * Dictionaries: tables that number texts, such as public keys. Other rows contain the number, which takes one to four bytes.
 * Rows are never removed, not even by reverts: equal chains can have different numbers.
 */
import { hexToBytes } from "@uniknode/protocol";
import { present } from "../../platform/present.ts";
import type { Database } from "./database.ts";
import { createTextCache } from "./text-cache.ts";

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
