/** Reads blocks of the mirror. */
import {
  type Block,
  type BlockHeader,
  headerFromTrustedBytes,
  sealedFromTrustedBytes,
} from "@uniknode/protocol";
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

/** The end of a range from which the bounds are counted. */
export type BlockOrigin = "first" | "last";

/**
 * Returns the blocks of a range within the bounds, at least the one at the origin.
 *
 * @throws {HistoryError} HISTORY_DAMAGED if a block is missing, or its bytes cannot be decoded
 */
export async function readStoredBlocks(
  query: Query,
  range: BlockRange,
  { maxBlocks, maxTransactions }: BlockBounds,
  origin: BlockOrigin = "first",
): Promise<Block[]> {
  const isFromFirst = origin === "first";
  const first = isFromFirst ? range.first : Math.max(range.first, range.last - maxBlocks + 1);
  const last = isFromFirst ? Math.min(range.last, range.first + maxBlocks - 1) : range.last;
  const headers = await readHeaders(query, { first, last });
  let transactions = 0;
  const kept = (isFromFirst ? headers : headers.toReversed()).filter(({ numberOfTransactions }, index) => {
    transactions += numberOfTransactions;
    return index === 0 || transactions <= maxTransactions;
  });
  return readTransactions(query, isFromFirst ? kept : kept.reverse());
}

/**
 * Returns the headers of a range.
 *
 * @throws {HistoryError} HISTORY_DAMAGED
 */
export async function readHeaders(query: Query, { first, last }: BlockRange): Promise<BlockHeader[]> {
  const rows = await query<BlockRow>(
    "SELECT height, id, header FROM blocks WHERE height BETWEEN $1 AND $2 ORDER BY height",
    [first, last],
  );
  return Array.from({ length: last - first + 1 }, (_, index) =>
    decoded(first + index, () => {
      const row = rows[index];
      if (!row || Number(row.height) !== first + index) throw new Error("it is missing");
      return headerFromTrustedBytes(row.header, row.id);
    }),
  );
}

/** @param headers of consecutive blocks */
async function readTransactions(query: Query, headers: readonly BlockHeader[]): Promise<Block[]> {
  const stored = await query<TransactionRow>(
    "SELECT height, id, bytes FROM transactions WHERE height BETWEEN $1 AND $2 ORDER BY height, sequence",
    [headers[0]?.height ?? 0, headers.at(-1)?.height ?? 0],
  );
  const byHeight = Map.groupBy(stored, ({ height }) => Number(height));
  return headers.map((header) => ({
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
