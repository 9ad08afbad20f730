/** Blocks of a feed as rows of PostgreSQL. */
import {
  type BlockHeader,
  blockFromTrustedBytes,
  type EncodedBlock,
  encodeHeader,
  type Network,
} from "@uniknode/protocol";
import { receiveBlock } from "../chain/pipeline/receive.ts";
import type { Position } from "../feed/position.ts";
import type { PostgresValue, Transaction } from "../postgres/connection.ts";
import { transactionColumns } from "../store/chain/transactions.ts";
import { MirrorError } from "./error.ts";
import type { Bundle } from "./line.ts";
import { insertRows } from "./statements.ts";

/**
 * Decodes the block of a bundle.
 *
 * @throws {MirrorError} MIRROR_FEED_INVALID if the bytes are not the named block
 */
export function readBlock({ height, id, parent, block }: Bundle, network: Network): EncodedBlock {
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

/** The genesis block does not follow the rules of other blocks, and its id does not follow from its bytes (blocks.md 10). */
function readGenesis(bytes: Uint8Array, id: string, network: Network): EncodedBlock {
  const block = blockFromTrustedBytes(bytes, network, id);
  if (block.header.payloadHash !== network.description.nethash) {
    throw new Error("it is the genesis block of another network");
  }
  return { ...block, headerBytes: encodeHeader(block.header, network) };
}

const BLOCK_COLUMNS = [
  ["height", "bigint"],
  ["id", "text"],
  ["version", "integer"],
  ["timestamp", "bigint"],
  ["number_of_transactions", "integer"],
  ["total_amount", "bigint"],
  ["total_fee", "bigint"],
  ["reward", "bigint"],
  ["generator", "text"],
  ["previous", "text"],
  ["payload_length", "bigint"],
  ["payload_hash", "text"],
  ["signature", "text"],
  ["header", "bytea"],
  ["transactions_up_to", "bigint"],
] as const;

/** @param transactionsUpTo number of transactions up to and including the block */
const blockColumns = (
  { header, headerBytes }: { readonly header: BlockHeader; readonly headerBytes: Uint8Array },
  transactionsUpTo: bigint,
): PostgresValue[] => [
  header.height,
  header.id,
  header.version,
  header.timestamp,
  header.numberOfTransactions,
  `${header.totalAmount}`,
  `${header.totalFee}`,
  `${header.reward}`,
  header.generatorPublicKey,
  header.previousBlock,
  header.payloadLength,
  header.payloadHash,
  header.blockSignature,
  headerBytes,
  `${transactionsUpTo}`,
];

const TRANSACTION_COLUMNS = [
  ["height", "bigint"],
  ["sequence", "integer"],
  ["id", "text"],
  ["version", "integer"],
  ["type_group", "bigint"],
  ["type", "integer"],
  ["sender", "text"],
  ["recipient", "text"],
  ["nonce", "bigint"],
  ["amount", "bigint"],
  ["fee", "bigint"],
  ["timestamp", "bigint"],
  ["vendor_field", "bytea"],
  ["is_alive", "integer"],
  ["signatures", "text"],
  ["asset", "text"],
  ["bytes", "bytea"],
] as const;

const PAYEE_COLUMNS = [
  ["address", "text"],
  ["height", "bigint"],
  ["sequence", "integer"],
] as const;

/** @param nextNonce returns the next nonce of a sender, for transactions that contain none */
function transactionRows(
  { header: { height, timestamp }, transactions }: EncodedBlock,
  nextNonce: (sender: string) => bigint,
): { readonly transactions: PostgresValue[][]; readonly payees: PostgresValue[][] } {
  const rows = transactions.map(transactionColumns);
  return {
    transactions: rows.map((row, sequence) => [
      height,
      sequence,
      row.id,
      row.version,
      row.typeGroup,
      row.type,
      row.sender,
      row.recipient,
      `${row.nonce ?? nextNonce(row.sender)}`,
      `${row.amount}`,
      `${row.fee}`,
      timestamp,
      row.vendorField === null ? null : Buffer.from(row.vendorField),
      row.isAlive,
      row.signatures,
      row.asset,
      row.bytes,
    ]),
    payees: rows.flatMap(({ payees }, sequence) =>
      [...new Set(payees)].map((address) => [address, height, sequence]),
    ),
  };
}

/** @param before number of transactions below the first block */
export async function appendBlocks(
  transaction: Transaction,
  blocks: readonly EncodedBlock[],
  before: bigint,
): Promise<void> {
  let total = before;
  const rows = blocks.map((block) => {
    total += BigInt(block.transactions.length);
    return blockColumns(block, total);
  });
  await insertRows(transaction, "blocks", BLOCK_COLUMNS, rows);
  const nextNonce = await nonceSource(transaction, blocks);
  const written = blocks.map((block) => transactionRows(block, nextNonce));
  await insertRows(
    transaction,
    "transactions",
    TRANSACTION_COLUMNS,
    written.flatMap(({ transactions }) => transactions),
  );
  await insertRows(
    transaction,
    "payees",
    PAYEE_COLUMNS,
    written.flatMap(({ payees }) => payees),
  );
  await addTypeTotals(transaction, blocks);
}

/** Transactions of version 1 contain no nonce: it is their position among those of the sender, from 1. */
async function nonceSource(transaction: Transaction, blocks: readonly EncodedBlock[]) {
  const senders = new Set(
    blocks.flatMap(({ transactions }) =>
      transactions.flatMap(({ data }) => (data.nonce === undefined ? [data.senderPublicKey] : [])),
    ),
  );
  const rows =
    senders.size === 0
      ? []
      : await transaction.query<{ sender: string; nonce: string }>(
          "SELECT sender, max(nonce) AS nonce FROM transactions WHERE sender = ANY ($1) GROUP BY sender",
          [[...senders]],
        );
  const last = new Map(rows.map(({ sender, nonce }) => [sender, BigInt(nonce)]));
  return (sender: string): bigint => {
    const nonce = (last.get(sender) ?? 0n) + 1n;
    last.set(sender, nonce);
    return nonce;
  };
}

async function addTypeTotals(transaction: Transaction, blocks: readonly EncodedBlock[]): Promise<void> {
  const counts = new Map<string, number>();
  for (const { data } of blocks.flatMap(({ transactions }) => transactions)) {
    const type = `${data.typeGroup} ${data.type}`;
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  const rows = [...counts].map(([type, count]) => [...type.split(" "), count]);
  if (rows.length === 0) return;
  await transaction.change(
    `INSERT INTO type_totals AS total SELECT * FROM unnest($1::bigint[], $2::integer[], $3::bigint[])
     ON CONFLICT (type_group, type) DO UPDATE SET transactions = total.transactions + EXCLUDED.transactions`,
    [0, 1, 2].map((column) => rows.map((row) => row[column] ?? null)),
  );
}

/**
 * Removes the blocks above a block, and returns the number of their transactions.
 *
 * @throws {MirrorError} MIRROR_FEED_INVALID if the block is not stored
 */
export async function removeBlocks(transaction: Transaction, { height, id }: Position): Promise<number> {
  const [known] = await transaction.query("SELECT 1 FROM blocks WHERE height = $1 AND id = $2", [height, id]);
  if (!known)
    throw new MirrorError("MIRROR_FEED_INVALID", `cannot return to block ${height}: ${id} is not stored`);
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
