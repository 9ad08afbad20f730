/** Numbers of the generators of blocks, and of the senders and recipients of transactions. */

import type { Database } from "./engine/database.ts";
import { createDictionary, type Dictionary, type DictionaryTable } from "./engine/dictionary.ts";

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
