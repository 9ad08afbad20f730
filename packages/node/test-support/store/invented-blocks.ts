/** Rows of blocks that no network made, for tests of reads that do not decode headers. */
import { concatBytes, hexToBytes } from "@uniknode/protocol";
import { BLOCK_IDS, fullIdOf, IdLevels, toStoredId } from "../../src/store/chain/id-levels.ts";
import type { Database } from "../../src/store/engine/database.ts";
import { Dictionary, GENERATORS } from "../../src/store/engine/dictionary.ts";

export type InventedBlock = {
  readonly height: number;
  readonly id: string;
  readonly timestamp?: number;
  readonly numberOfTransactions?: number;
  /** Public key. */
  readonly generator?: string;
};

const GENERATOR = `02${"00".repeat(32)}`;
/** A signature of the shortest form. */
const SIGNATURE = "3006020101020101";

/** Returns a function that inserts the row of a block. Its header has zeros, the generator and a signature. */
export function createInventedBlocks(database: Database): (block: InventedBlock) => void {
  const insert = database.prepare(
    `INSERT INTO blocks VALUES (?, ?, 0, ?, ?, ? + coalesce((SELECT max(transactions_up_to) FROM blocks), 0),
       0, 0, 0, 0, ?, ?)`,
  );
  const generators = new Dictionary(database, GENERATORS);
  const ids = new IdLevels(database, BLOCK_IDS);
  return ({ height, id, timestamp = 8 * height, numberOfTransactions = 0, generator = GENERATOR }) => {
    const header = concatBytes(new Uint8Array(84), hexToBytes(generator), hexToBytes(SIGNATURE));
    const counts = [numberOfTransactions, numberOfTransactions];
    const stored = toStoredId(id);
    insert.run(height, stored, timestamp, ...counts, generators.numberOf(generator), header);
    const fullId = fullIdOf(stored);
    if (fullId) ids.add(fullId, height);
  };
}
