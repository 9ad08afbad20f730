/** Blocks as JSON: 64-bit values are decimal text, ids and keys hexadecimal (blocks.md 6). */
import { bytesToHex } from "../crypto/bytes.ts";
import { transactionToJson } from "../transactions/json.ts";
import type { Block, BlockHeader } from "./block.ts";

/** A header as JSON, amounts as decimal text. */
export type HeaderJson = Omit<BlockHeader, Amounts> & Record<Amounts, string>;

/** A header as peers exchange it: without the hexadecimal forms of the ids. */
export type PeerBlockJson = Omit<HeaderJson, "idHex" | "previousBlockHex"> & {
  /** Hexadecimal bytes of each; absent if there is none. */
  transactions?: string[];
};

type Amounts = "totalAmount" | "totalFee" | "reward";

/** Block data of events and of the API (events.md 1, B). */
export const headerToJson = (header: BlockHeader): HeaderJson => ({
  version: header.version,
  timestamp: header.timestamp,
  height: header.height,
  previousBlockHex: header.previousBlockHex,
  previousBlock: header.previousBlock,
  numberOfTransactions: header.numberOfTransactions,
  totalAmount: header.totalAmount.toString(),
  totalFee: header.totalFee.toString(),
  reward: header.reward.toString(),
  payloadLength: header.payloadLength,
  payloadHash: header.payloadHash,
  generatorPublicKey: header.generatorPublicKey,
  blockSignature: header.blockSignature,
  idHex: header.idHex,
  id: header.id,
});

/** The header with its transactions, which have the id of the block and their position too. */
export const blockToJson = ({ header, transactions }: Block): Record<string, unknown> => ({
  ...headerToJson(header),
  transactions: transactions.map(({ data }, sequence) => ({
    ...transactionToJson(data),
    blockId: header.id,
    sequence,
  })),
});

/** The form in which peers download blocks (p2p.md 7.4). */
export function blockToPeerJson({ header, transactions }: Block): PeerBlockJson {
  const { idHex: _, previousBlockHex: __, ...json } = headerToJson(header);
  if (transactions.length === 0) return json;
  return { ...json, transactions: transactions.map(({ bytes }) => bytesToHex(bytes)) };
}
