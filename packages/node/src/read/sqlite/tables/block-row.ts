/** Rows of blocks: most members are in the bytes of the header, which one statement returns as one text. */
import { partialIdFromHex } from "@uniknode/protocol";
import type { StoredBlock } from "../../rows.ts";

export type BlockRow = Omit<
  StoredBlock,
  "previousBlock" | "payloadHash" | "generatorPublicKey" | "blockSignature" | "username"
> & {
  /** Number of the generator. */
  readonly generator: number;
  /** Upper-case hexadecimal of the header bytes. */
  readonly header: string;
};

export const BLOCK_COLUMNS = `id_text AS id, version, timestamp, height, number_of_transactions AS numberOfTransactions,
  CAST(total_amount AS TEXT) AS totalAmount, CAST(total_fee AS TEXT) AS totalFee, CAST(reward AS TEXT) AS reward,
  payload_length AS payloadLength, generator, hex(header) AS header`;

/** Positions of digits in the header (blocks.md 1), if the id of the parent has eight bytes. */
const PARENT = 24;
const PAYLOAD_HASH = 104;
const GENERATOR = 168;
const SIGNATURE = 234;
/** Digits by which a full id of the parent is longer. */
const FULL_PARENT = 48;

/** Slices the members of the header from its text: bytes of each member would cost three times as much. */
export function toStoredBlock(row: BlockRow, username: string | null): StoredBlock {
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
    totalAmount: row.totalAmount,
    totalFee: row.totalFee,
    reward: row.reward,
    payloadLength: row.payloadLength,
    payloadHash: header.slice(PAYLOAD_HASH + shift, GENERATOR + shift),
    generatorPublicKey: header.slice(GENERATOR + shift, SIGNATURE + shift),
    blockSignature: header.slice(SIGNATURE + shift),
    username,
  };
}

/** Applies the rule of `headerFromTrustedBytes`: the signature begins after a full id of the parent, and fills the rest. */
function hasFullParent(header: string, id: string): boolean {
  const at = SIGNATURE + FULL_PARENT;
  return (
    id.length === 64 &&
    header.startsWith("30", at) &&
    header.startsWith("02", at + 4) &&
    Number.parseInt(header.slice(at + 2, at + 4), 16) === (header.length - at - 4) / 2
  );
}
