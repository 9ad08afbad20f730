/** Decodes the blocks of a feed, and writes and removes them. */
import { blockFromTrustedBytes, type EncodedBlock, encodeHeader, type Network } from "@uniknode/protocol";
import { receiveBlock } from "../chain/pipeline/receive.ts";
import type { Position } from "../feed/line.ts";
import type { Transaction } from "../postgres/connection.ts";
import {
  BLOCK_COLUMNS,
  chainRows,
  countTypes,
  PAYEE_COLUMNS,
  TRANSACTION_COLUMNS,
  typeRows,
} from "./block-rows.ts";
import type { Bundle } from "./line.ts";
import { MirrorError } from "./mirror-error.ts";
import { insertRows } from "./statements.ts";

/** A bundle with its decoded block. */
export type DecodedBundle = Omit<Bundle, "block"> & { readonly block: EncodedBlock };

/**
 * Decodes the block of a bundle.
 *
 * @throws {MirrorError} MIRROR_FEED_INVALID if the bytes are not the named block
 */
export const decodeBundle = (bundle: Bundle, network: Network): DecodedBundle => ({
  ...bundle,
  block: readBlock(bundle, network),
});

function readBlock({ height, id, parent, block }: Bundle, network: Network): EncodedBlock {
  const invalid = (why: string, cause?: unknown) =>
    new MirrorError("MIRROR_FEED_INVALID", `block ${height} of the feed: ${why}`, { cause });
  const bytes = Buffer.from(block, "base64");
  let received: EncodedBlock;
  try {
    received = height === 1 ? readGenesis(bytes, id, network) : receiveBlock(bytes, network);
  } catch (cause) {
    throw invalid("it cannot be decoded", cause);
  }
  const { header } = received;
  if (header.id !== id || header.height !== height) {
    throw invalid(`its bytes are block ${header.height} ${header.id}`);
  }
  if (height > 1 && header.previousBlock !== parent) {
    throw invalid(`its parent is ${header.previousBlock}, not ${parent}`);
  }
  return received;
}

/** The genesis block does not follow the rules of other blocks, and its id is not derived from its bytes (blocks.md 10). */
function readGenesis(bytes: Uint8Array, id: string, network: Network): EncodedBlock {
  const block = blockFromTrustedBytes(bytes, network, id);
  if (block.header.payloadHash !== network.description.nethash) {
    throw new Error("it is the genesis block of another network");
  }
  return { ...block, headerBytes: encodeHeader(block.header, network) };
}

/** @param before number of transactions below the first block */
export async function appendBlocks(
  transaction: Transaction,
  blocks: readonly EncodedBlock[],
  before: bigint,
): Promise<void> {
  const rows = await chainRows(transaction.query, blocks, before);
  await insertRows(transaction, "blocks", BLOCK_COLUMNS, rows.blocks);
  await insertRows(transaction, "transactions", TRANSACTION_COLUMNS, rows.transactions);
  await insertRows(transaction, "payees", PAYEE_COLUMNS, rows.payees);
  await addTypeTotals(transaction, blocks);
}

async function addTypeTotals(transaction: Transaction, blocks: readonly EncodedBlock[]): Promise<void> {
  const counts = new Map<string, number>();
  countTypes(counts, blocks);
  const rows = typeRows(counts);
  if (rows.length === 0) return;
  await transaction.change(
    `INSERT INTO type_totals AS total SELECT * FROM unnest($1::bigint[], $2::integer[], $3::bigint[])
     ON CONFLICT (type_group, type) DO UPDATE SET transactions = total.transactions + EXCLUDED.transactions`,
    [0, 1, 2].map((column) => rows.map((row) => row[column] ?? null)),
  );
}

/**
 * Removes the blocks above a stored block, and returns the number of their transactions.
 *
 * @throws {MirrorError} MIRROR_FEED_INVALID if the block is not stored
 */
export async function removeBlocks(transaction: Transaction, { height, id }: Position): Promise<number> {
  const [known] = await transaction.query("SELECT 1 FROM blocks WHERE height = $1 AND id = $2", [height, id]);
  if (!known)
    throw new MirrorError("MIRROR_FEED_INVALID", `cannot return to block ${height}: ${id} is not stored`);
  return removeAbove(transaction, height);
}

/** Removes the blocks above a height, and returns the number of their transactions. */
export async function removeAbove(transaction: Transaction, height: number): Promise<number> {
  await transaction.change(
    `UPDATE type_totals AS total SET transactions = total.transactions - removed.count
     FROM (SELECT type_group, type, count(*) AS count FROM transactions WHERE height > $1 GROUP BY 1, 2) AS removed
     WHERE removed.type_group = total.type_group AND removed.type = total.type`,
    [height],
  );
  await transaction.change("DELETE FROM type_totals WHERE transactions = 0");
  await transaction.change("DELETE FROM payees WHERE height > $1", [height]);
  await transaction.change("DELETE FROM blocks WHERE height > $1", [height]);
  return transaction.change("DELETE FROM transactions WHERE height > $1", [height]);
}
