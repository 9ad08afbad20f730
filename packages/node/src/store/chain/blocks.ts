/** The blocks of the chain. */
import {
  type Block,
  type BlockHeader,
  headerFromTrustedBytes,
  sealedFromTrustedBytes,
} from "@uniknode/protocol";
import type { Database } from "../engine/database.ts";
import { createGenerators } from "../engine/dictionary.ts";
import { BLOCK_IDS, createIdLevels, fullIdOf, prepareById, toStoredId } from "./id-levels.ts";

/** A block in its wire format: header with signature, and the canonical bytes of each transaction. */
export type BlockBytes = {
  readonly height: number;
  readonly id: string;
  readonly header: Uint8Array;
  readonly transactions: readonly Uint8Array[];
  /** Ids in the order of the transactions. */
  readonly transactionIds: readonly string[];
};

export type EncodedHeader = { readonly header: BlockHeader; readonly headerBytes: Uint8Array };

export type BlockStore = {
  /** Writes the header of the next block. */
  append(block: EncodedHeader): void;
  /** Header of the highest block; absent in an empty database. */
  head(): BlockHeader | undefined;
  header(height: number): BlockHeader | undefined;
  headerById(id: string): BlockHeader | undefined;
  /** The whole block; its transactions count as verified. */
  block(height: number): Block | undefined;
  /** Returns the existing blocks from one height to another. */
  bytes(from: number, to: number): BlockBytes[];
  /** Removes the blocks at and above the height. */
  removeFrom(height: number): void;
};

type HeaderRow = { id: string; header: Uint8Array };
const COLUMNS = "id_text AS id, header";
const HEADER = `SELECT ${COLUMNS} FROM blocks`;
type TransactionRow = { height: number; id: string; bytes: Uint8Array };

export function createBlockStore(database: Database): BlockStore {
  const last = database.prepare<HeaderRow>(`${HEADER} ORDER BY height DESC LIMIT 1`);
  const byHeight = database.prepare<HeaderRow>(`${HEADER} WHERE height = ?`);
  const byId = prepareById<HeaderRow>(database, BLOCK_IDS, COLUMNS);
  const range = database.prepare<HeaderRow & { height: number }>(
    "SELECT height, id_text AS id, header FROM blocks WHERE height BETWEEN ? AND ? ORDER BY height",
  );
  const transactions = database.prepare<TransactionRow>(
    "SELECT height, id_text AS id, bytes FROM transactions WHERE height BETWEEN ? AND ? ORDER BY height, sequence",
  );

  const headerOf = (row: HeaderRow | undefined) => row && headerFromTrustedBytes(row.header, row.id);

  return {
    ...createBlockWriter(database),
    head: () => headerOf(last.get()),
    header: (height) => headerOf(byHeight.get(height)),
    headerById: (id) => headerOf(byId(id)),
    block(height) {
      const header = headerOf(byHeight.get(height));
      if (!header) return undefined;
      const rows = transactions.all(height, height);
      return { header, transactions: rows.map(({ id, bytes }) => sealedFromTrustedBytes(bytes, id)) };
    },
    bytes(from, to) {
      const rowsByHeight = Map.groupBy(transactions.all(from, to), ({ height }) => height);
      return range.all(from, to).map(({ height, id, header }) => {
        const rows = rowsByHeight.get(height) ?? [];
        return {
          height,
          id,
          header,
          transactions: rows.map(({ bytes }) => bytes),
          transactionIds: rows.map(({ id }) => id),
        };
      });
    },
  };
}

/** Writes one row and one index entry for each block. */
function createBlockWriter(database: Database): Pick<BlockStore, "append" | "removeFrom"> {
  const insert = database.prepare("INSERT INTO blocks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const removeFrom = database.prepare("DELETE FROM blocks WHERE height >= ?");
  const upTo = database.prepare<{ transactions: number }>(
    "SELECT transactions_up_to AS transactions FROM blocks WHERE height = ?",
  );
  const generators = createGenerators(database);
  const ids = createIdLevels(database, BLOCK_IDS);
  /** The last block written, with the number of transactions up to and including it. */
  let last: { readonly id: string; readonly transactions: number } | undefined;

  function forget(): void {
    last = undefined;
    generators.reset();
  }

  return {
    append({ header, headerBytes }) {
      const { id, height, numberOfTransactions } = header;
      // The child of the last block shows that the transaction of the last block was not rolled back.
      if (last?.id !== header.previousBlock) forget();
      const { transactions: below } = last ?? upTo.get(height - 1) ?? { transactions: 0 };
      const transactions = below + numberOfTransactions;
      const stored = toStoredId(id);
      const fullId = fullIdOf(stored);
      // If the insertion fails, the number of a new generator is rolled back too, so that no block is cached until then.
      last = undefined;
      insert.run(
        height,
        stored,
        header.version,
        header.timestamp,
        numberOfTransactions,
        transactions,
        header.totalAmount,
        header.totalFee,
        header.reward,
        header.payloadLength,
        generators.numberOf(header.generatorPublicKey),
        headerBytes,
      );
      if (fullId) ids.add(fullId, height);
      ids.grow(height - 1, height);
      last = { id, transactions };
    },
    removeFrom(height) {
      ids.removeFrom(height);
      removeFrom.run(height);
      forget();
    },
  };
}
