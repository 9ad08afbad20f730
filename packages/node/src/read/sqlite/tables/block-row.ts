/** Rows of blocks: most members are in the bytes of the header, which one statement returns as one text. */
import { partialIdFromHex } from "@uniknode/protocol";
import type { StoredBlock } from "../../rows.ts";
import { type IntegerColumn, integerColumn } from "./integer-column.ts";

export type BlockRow = Omit<
  StoredBlock,
  | "previousBlock"
  | "totalAmount"
  | "totalFee"
  | "reward"
  | "payloadHash"
  | "generatorPublicKey"
  | "blockSignature"
  | "username"
> & {
  readonly totalAmount: IntegerColumn;
  readonly totalFee: IntegerColumn;
  readonly reward: IntegerColumn;
  /** Number of the generator. */
  readonly generator: number;
  /** Upper-case hexadecimal of the header bytes. */
  readonly header: string;
};

/** Generator of blocks, as responses name it. */
export type Generator = { readonly publicKey: string; readonly username: string | null };

export const BLOCK_COLUMNS = `id_text AS id, version, timestamp, height, number_of_transactions AS numberOfTransactions,
  ${integerColumn("total_amount", "totalAmount")}, ${integerColumn("total_fee", "totalFee")}, ${integerColumn("blocks.reward", "reward")},
  payload_length AS payloadLength, generator, hex(header) AS header`;

/** Positions of digits in the header (blocks.md 1), if the id of the parent has eight bytes. */
const PARENT = 24;
const PAYLOAD_HASH = 104;
const GENERATOR = 168;
const SIGNATURE = 234;
/** Digits by which a full id of the parent is longer. */
const FULL_PARENT = 48;

/** Slices the members of the header from its text: bytes of each member would cost three times as much. */
export function toStoredBlock(row: BlockRow, generator: Generator): StoredBlock {
  const { id } = row;
  const header = row.header.toLowerCase();
  const shift = hasFullParent(header, id) ? FULL_PARENT : 0;
  return {
    id,
    version: row.version,
    timestamp: row.timestamp,
    height: row.height,
    previousBlock: shift
      ? header.slice(PARENT, PARENT + 64)
      : partialIdFromHex(header.slice(PARENT, PARENT + 16)),
    numberOfTransactions: row.numberOfTransactions,
    totalAmount: `${row.totalAmount}`,
    totalFee: `${row.totalFee}`,
    reward: `${row.reward}`,
    payloadLength: row.payloadLength,
    payloadHash: header.slice(PAYLOAD_HASH + shift, GENERATOR + shift),
    generatorPublicKey: generator.publicKey,
    blockSignature: header.slice(SIGNATURE + shift),
    username: generator.username,
  };
}

/** First digits of a signature, by the number of bytes after the first two. */
const SIGNATURE_STARTS = Array.from(
  { length: 256 },
  (_, size) => `30${size.toString(16).padStart(2, "0")}02`,
);

/** Applies the rule of `headerFromTrustedBytes`: the signature begins after a full id of the parent, and fills the rest. */
function hasFullParent(header: string, id: string): boolean {
  const at = SIGNATURE + FULL_PARENT;
  return id.length === 64 && header.slice(at, at + 6) === SIGNATURE_STARTS[(header.length - at) / 2 - 2];
}
