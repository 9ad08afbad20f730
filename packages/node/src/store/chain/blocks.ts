/** The blocks of the chain. */
import {
  type Block,
  type BlockHeader,
  headerFromTrustedBytes,
  sealedFromTrustedBytes,
} from "@uniknode/protocol";
import type { Database } from "../engine/database.ts";
import { Dictionary, GENERATORS } from "../engine/dictionary.ts";
import { BLOCK_IDS, fullIdOf, IdLevels, prepareById, toStoredId } from "./id-levels.ts";

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

type HeaderRow = { id: string; header: Uint8Array };
const COLUMNS = "id_text AS id, header";
const HEADER = `SELECT ${COLUMNS} FROM blocks`;
type TransactionRow = { height: number; id: string; bytes: Uint8Array };

export class BlockStore {
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #generators: Dictionary;
  readonly #ids: IdLevels;
  /** The last block written, with the number of transactions up to and including it. */
  #last: { readonly id: string; readonly transactions: number } | undefined;

  constructor(database: Database) {
    this.#statements = prepareStatements(database);
    this.#generators = new Dictionary(database, GENERATORS);
    this.#ids = new IdLevels(database, BLOCK_IDS);
  }

  /** Header of the highest block; absent in an empty database. */
  head(): BlockHeader | undefined {
    return headerOf(this.#statements.last.get());
  }

  header(height: number): BlockHeader | undefined {
    return headerOf(this.#statements.byHeight.get(height));
  }

  headerById(id: string): BlockHeader | undefined {
    return headerOf(this.#statements.byId(id));
  }

  /** The whole block; its transactions count as verified. */
  block(height: number): Block | undefined {
    const header = this.header(height);
    if (!header) return undefined;
    const rows = this.#statements.transactions.all(height, height);
    return { header, transactions: rows.map(({ id, bytes }) => sealedFromTrustedBytes(bytes, id)) };
  }

  /** Returns the existing blocks from one height to another. */
  bytes(from: number, to: number): BlockBytes[] {
    const { transactions, range } = this.#statements;
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
  }

  /** Writes the header of the next block: one row and one index entry. */
  append({ header, headerBytes }: EncodedHeader): void {
    const { id, height, numberOfTransactions } = header;
    // The child of the last block shows that the transaction of the last block was not rolled back.
    if (this.#last?.id !== header.previousBlock) this.#forget();
    const { transactions: below } = this.#last ??
      this.#statements.upTo.get(height - 1) ?? { transactions: 0 };
    const transactions = below + numberOfTransactions;
    const stored = toStoredId(id);
    const fullId = fullIdOf(stored);
    // If the insertion fails, the number of a new generator is rolled back too, so that no block is cached until then.
    this.#last = undefined;
    this.#statements.insert.run(
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
      this.#generators.numberOf(header.generatorPublicKey),
      headerBytes,
    );
    if (fullId) this.#ids.add(fullId, height);
    this.#ids.grow(height - 1, height);
    this.#last = { id, transactions };
  }

  /** Removes the blocks at and above the height. */
  removeFrom(height: number): void {
    this.#ids.removeFrom(height);
    // SQLite empties a table at once.
    if (height <= 1) this.#statements.removeAll.run();
    else this.#statements.removeFrom.run(height);
    this.#forget();
  }

  #forget(): void {
    this.#last = undefined;
    this.#generators.reset();
  }
}

const headerOf = (row: HeaderRow | undefined): BlockHeader | undefined =>
  row && headerFromTrustedBytes(row.header, row.id);

const prepareStatements = (database: Database) => ({
  last: database.prepare<HeaderRow>(`${HEADER} ORDER BY height DESC LIMIT 1`),
  byHeight: database.prepare<HeaderRow>(`${HEADER} WHERE height = ?`),
  byId: prepareById<HeaderRow>(database, BLOCK_IDS, COLUMNS),
  range: database.prepare<HeaderRow & { height: number }>(
    "SELECT height, id_text AS id, header FROM blocks WHERE height BETWEEN ? AND ? ORDER BY height",
  ),
  transactions: database.prepare<TransactionRow>(
    "SELECT height, id_text AS id, bytes FROM transactions WHERE height BETWEEN ? AND ? ORDER BY height, sequence",
  ),
  insert: database.prepare("INSERT INTO blocks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
  removeFrom: database.prepare("DELETE FROM blocks WHERE height >= ?"),
  removeAll: database.prepare("DELETE FROM blocks"),
  upTo: database.prepare<{ transactions: number }>(
    "SELECT transactions_up_to AS transactions FROM blocks WHERE height = ?",
  ),
});
