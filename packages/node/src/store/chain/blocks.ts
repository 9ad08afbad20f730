/** The blocks of the chain. */
import {
  type Block,
  type BlockHeader,
  headerFromTrustedBytes,
  sealedFromTrustedBytes,
} from "@uniknode/protocol";
import type { Database, SqlValue } from "../engine/database.ts";

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

/** Returns the row of a block: its columns in the order of the table. */
export const blockRow = ({ header, headerBytes }: EncodedHeader): SqlValue[] => [
  header.height,
  header.id,
  header.version,
  header.timestamp,
  header.numberOfTransactions,
  header.totalAmount,
  header.totalFee,
  header.reward,
  header.generatorPublicKey,
  header.previousBlock,
  header.payloadLength,
  header.payloadHash,
  header.blockSignature,
  headerBytes,
];

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
type TransactionRow = { height: number; id: string; bytes: Uint8Array };

export function createBlockStore(database: Database): BlockStore {
  const insert = database.prepare("INSERT INTO blocks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const last = database.prepare<HeaderRow>("SELECT id, header FROM blocks ORDER BY height DESC LIMIT 1");
  const byHeight = database.prepare<HeaderRow>("SELECT id, header FROM blocks WHERE height = ?");
  const byId = database.prepare<HeaderRow>("SELECT id, header FROM blocks WHERE id = ?");
  const range = database.prepare<HeaderRow & { height: number }>(
    "SELECT height, id, header FROM blocks WHERE height BETWEEN ? AND ? ORDER BY height",
  );
  const transactions = database.prepare<TransactionRow>(
    "SELECT height, id, bytes FROM transactions WHERE height BETWEEN ? AND ? ORDER BY height, sequence",
  );
  const removeFrom = database.prepare("DELETE FROM blocks WHERE height >= ?");

  const headerOf = (row: HeaderRow | undefined) => row && headerFromTrustedBytes(row.header, row.id);

  return {
    append: (block) => void insert.run(...blockRow(block)),
    head: () => headerOf(last.get()),
    header: (height) => headerOf(byHeight.get(height)),
    headerById: (id) => headerOf(byId.get(id)),
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
    removeFrom: (height) => void removeFrom.run(height),
  };
}
