/** Numbers of the public keys of delegates, in rows of blocks and rounds. */
import type { Database } from "../engine/database.ts";
import { createDictionary, type Dictionary, type DictionaryTable } from "../engine/dictionary.ts";

export const GENERATORS: DictionaryTable = {
  table: "generators",
  column: "public_key",
  isHex: true,
  maxLength: 66,
};

export type Generators = Dictionary;

export const createGenerators = (database: Database): Generators => createDictionary(database, GENERATORS);
