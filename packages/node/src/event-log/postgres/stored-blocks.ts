/** Reads blocks of the mirror. */
import { type Block, headerFromTrustedBytes, sealedFromTrustedBytes } from "@uniknode/protocol";
import type { Query } from "../../postgres/connection.ts";
import { HistoryError } from "../history.ts";

type BlockRow = { height: string; id: string; header: Uint8Array };
type TransactionRow = { height: string; id: string; bytes: Uint8Array };

/** Bounds of one read, so that other work of the process is not delayed. */
export type BlockBounds = {
  readonly maxBlocks: number;
  /** A block with more transactions is read alone. */
  readonly maxTransactions: number;
};

/** Heights of the first and the last block. */
export type BlockRange = { readonly first: number; readonly last: number };

/**
 * Returns at least one block from the first height on, up to the last height or the bounds.
 *
 * @throws {HistoryError} HISTORY_DAMAGED if a block is missing, or its bytes cannot be decoded
 */
export async function readStoredBlocks(
  query: Query,
  { first, last }: BlockRange,
  { maxBlocks, maxTransactions }: BlockBounds,
): Promise<Block[]> {
  const rows = await query<BlockRow>(
    "SELECT height, id, header FROM blocks WHERE height BETWEEN $1 AND $2 ORDER BY height",
    [first, Math.min(last, first + maxBlocks - 1)],
  );
  const headers = rows.map((row, index) =>
    decoded(first + index, () => {
      if (Number(row.height) !== first + index) throw new Error("it is missing");
      return headerFromTrustedBytes(row.header, row.id);
    }),
  );
  if (headers.length === 0) throw damaged(first, "it is missing");
  let transactions = 0;
  const kept = headers.filter(({ numberOfTransactions }, index) => {
    transactions += numberOfTransactions;
    return index === 0 || transactions <= maxTransactions;
  });
  const stored = await query<TransactionRow>(
    "SELECT height, id, bytes FROM transactions WHERE height BETWEEN $1 AND $2 ORDER BY height, sequence",
    [first, first + kept.length - 1],
  );
  const byHeight = Map.groupBy(stored, ({ height }) => Number(height));
  return kept.map((header) => ({
    header,
    transactions: decoded(header.height, () =>
      (byHeight.get(header.height) ?? []).map(({ id, bytes }) => sealedFromTrustedBytes(bytes, id)),
    ),
  }));
}

function decoded<T>(height: number, decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    throw damaged(height, (cause as Error).message, cause);
  }
}

const damaged = (height: number, why: string, cause?: unknown): HistoryError =>
  new HistoryError(
    "HISTORY_DAMAGED",
    `cannot read block ${height} in the database of the mirror: ${why}; start the mirror with an empty database`,
    cause,
  );
