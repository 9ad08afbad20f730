/** Blocks as rows of PostgreSQL. */
import type { BlockHeader, EncodedBlock } from "@uniknode/protocol";
import type { PostgresValue, Query } from "../postgres/connection.ts";
import { transactionColumns } from "../store/chain/transactions.ts";

/** Rows of the three tables that have the chain. */
export type ChainRows = Readonly<Record<"blocks" | "transactions" | "payees", PostgresValue[][]>>;

/**
 * Returns the rows of consecutive blocks.
 *
 * @param before number of transactions below the first block
 */
export async function chainRows(
  query: Query,
  blocks: readonly EncodedBlock[],
  before: bigint,
): Promise<ChainRows> {
  let total = before;
  const nextNonce = await nonceSource(query, blocks);
  const rows: ChainRows = { blocks: [], transactions: [], payees: [] };
  for (const block of blocks) {
    total += BigInt(block.transactions.length);
    rows.blocks.push(blockColumns(block, total));
    const { transactions, payees } = transactionRows(block, nextNonce);
    rows.transactions.push(...transactions);
    rows.payees.push(...payees);
  }
  return rows;
}

/** Adds the transactions of blocks to numbers by type group and type, separated by a space. */
export function countTypes(counts: Map<string, number>, blocks: readonly EncodedBlock[]): void {
  for (const { data } of blocks.flatMap(({ transactions }) => transactions)) {
    const type = `${data.typeGroup} ${data.type}`;
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }
}

export const BLOCK_COLUMNS = [
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

export const TRANSACTION_COLUMNS = [
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

export const PAYEE_COLUMNS = [
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

/**
 * Transactions of version 1 contain no nonce: it is their position among those of the sender, from 1. The
 * preset networks have some in their first two blocks only, so that no index on senders is needed while a mirror is built.
 */
async function nonceSource(query: Query, blocks: readonly EncodedBlock[]) {
  const senders = new Set(
    blocks.flatMap(({ transactions }) =>
      transactions.flatMap(({ data }) => (data.nonce === undefined ? [data.senderPublicKey] : [])),
    ),
  );
  const rows =
    senders.size === 0
      ? []
      : await query<{ sender: string; nonce: string }>(
          "SELECT sender, max(nonce) AS nonce FROM transactions WHERE sender = ANY ($1) AND height < $2 GROUP BY sender",
          [[...senders], blocks[0]?.header.height ?? 0],
        );
  const last = new Map(rows.map(({ sender, nonce }) => [sender, BigInt(nonce)]));
  return (sender: string): bigint => {
    const nonce = (last.get(sender) ?? 0n) + 1n;
    last.set(sender, nonce);
    return nonce;
  };
}
