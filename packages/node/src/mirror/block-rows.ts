/** Converts blocks to rows of PostgreSQL. */
import type { EncodedBlock, SealedTransaction } from "@uniknode/protocol";
import type { PostgresValue, Query } from "../postgres/connection.ts";
import type { EncodedHeader } from "../store/chain/blocks.ts";
import { isAlive, payeesOf } from "../store/chain/transactions.ts";
import { toAssetText, toSignaturesText } from "../store/chain/visible-fields.ts";

/** Rows of the three tables that contain the chain. */
type ChainRows = Readonly<Record<"blocks" | "transactions" | "payees", PostgresValue[][]>>;

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
    rows.blocks.push(blockRow(block, total));
    const { transactions, payees } = transactionRows(block, nextNonce);
    rows.transactions.push(...transactions);
    rows.payees.push(...payees);
  }
  return rows;
}

/** Adds the transactions of blocks to counts, whose keys are type group and type, separated by a space. */
export function countTypes(counts: Map<string, number>, blocks: readonly EncodedBlock[]): void {
  for (const { data } of blocks.flatMap(({ transactions }) => transactions)) {
    const type = `${data.typeGroup} ${data.type}`;
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }
}

/** Returns the rows of these counts: type group, type, number of transactions. */
export const typeRows = (counts: ReadonlyMap<string, number>): (string | number)[][] =>
  [...counts].map(([type, count]) => [...type.split(" "), count]);

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

/** @param total number of transactions up to and including the block */
const blockRow = ({ header, headerBytes }: EncodedHeader, total: bigint): PostgresValue[] => [
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
  `${total}`,
];

/** Position of a transaction in the chain, and the values of its row that its bytes do not contain. */
type InBlock = {
  readonly height: number;
  readonly sequence: number;
  /** Timestamp of the block. */
  readonly timestamp: number;
  /** Nonce, also of a transaction of version 1, which contains none. */
  readonly nonce: bigint;
};

const transactionRow = (
  { data, bytes }: SealedTransaction,
  { height, sequence, timestamp, nonce }: InBlock,
): PostgresValue[] => [
  height,
  sequence,
  data.id,
  data.version,
  data.typeGroup,
  data.type,
  data.senderPublicKey,
  data.recipientId ?? null,
  `${nonce}`,
  `${data.amount}`,
  `${data.fee}`,
  timestamp,
  data.vendorField ? Buffer.from(data.vendorField) : null,
  isAlive(data) ? 1 : null,
  toSignaturesText(data),
  toAssetText(data.asset),
  bytes,
];

/** @param nextNonce returns the next nonce of a sender, for transactions that contain none */
function transactionRows(
  { header: { height, timestamp }, transactions }: EncodedBlock,
  nextNonce: (sender: string) => bigint,
): { readonly transactions: PostgresValue[][]; readonly payees: PostgresValue[][] } {
  return {
    transactions: transactions.map((transaction, sequence) => {
      const { nonce = nextNonce(transaction.data.senderPublicKey) } = transaction.data;
      return transactionRow(transaction, { height, sequence, timestamp, nonce });
    }),
    payees: transactions.flatMap(({ data }, sequence) =>
      [...payeesOf(data)].map((address) => [address, height, sequence]),
    ),
  };
}

/**
 * Returns a function that returns the next nonce of a sender: transactions of version 1 contain none, so their nonce is
 * their position among the sender's transactions, counted from 1. The preset networks have such transactions only in
 * their first two blocks: a mirror that is being built needs no index on senders.
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
