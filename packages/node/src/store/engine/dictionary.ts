/**
 * Dictionaries: tables that number texts, such as public keys. Other rows contain the number, which takes one to four bytes.
 * Rows are never removed, not even by reverts: equal chains can have different numbers.
 */
import { hexToBytes } from "@uniknode/protocol";
import { present } from "../../platform/present.ts";
import type { Database } from "./database.ts";

export type DictionaryTable = {
  readonly table: string;
  readonly column: string;
  /** True if the texts are hexadecimal, and stored as bytes. */
  readonly isHex: boolean;
};

export type Dictionary = {
  /** Returns the number of a text. A new text gets a row: must be called inside a transaction. */
  numberOf(text: string): number;
  /** @throws {Error} if no text has the number: the row with the number is damaged */
  textOf(number: number): string;
  /** Discards the cache. Must be called if a transaction that called `numberOf` fails. */
  reset(): void;
};

/** Maximum number of cached texts, in each direction: 3 MB of addresses or keys. */
const MAX_CACHED = 20_000;
const HEX = /^([0-9a-f]{2})+$/;

export function createDictionary(database: Database, dictionary: DictionaryTable): Dictionary {
  const { table, column, isHex } = dictionary;
  const insert = database.prepare(`INSERT INTO ${table} (${column}) VALUES (?)`);
  const find = createNumberLookup(database, dictionary);
  const select = database.prepare<{ text: string }>(
    `SELECT ${isHex ? `lower(hex(${column}))` : column} AS text FROM ${table} WHERE number = ?`,
  );
  const numbers = new Map<string, number>();
  const texts = new Map<number, string>();
  return {
    numberOf(text) {
      const cached = numbers.get(text);
      if (cached !== undefined) return cached;
      const number = find(text) ?? Number(insert.run(isHex ? hexToBytes(text) : text).lastInsertRowid);
      cache(numbers, text, number);
      return number;
    },
    textOf(number) {
      const cached = texts.get(number);
      if (cached !== undefined) return cached;
      const { text } = present(select.get(number), `the row of ${table} with the number ${number}`);
      cache(texts, number, text);
      return text;
    },
    reset() {
      numbers.clear();
      texts.clear();
    },
  };
}

function cache<Key, Value>(known: Map<Key, Value>, key: Key, value: Value): void {
  // Tracking recent use would cost more than occasionally reading all rows again.
  if (known.size >= MAX_CACHED) known.clear();
  known.set(key, value);
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
