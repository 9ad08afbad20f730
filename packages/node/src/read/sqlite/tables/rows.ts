/**
 * Rows of blocks and transactions: most members are in the bytes of the header, or in the signed bytes, which one statement returns as
 * one text.
 */
import { hexToBytes, partialIdFromHex, sealedFromTrustedBytes } from "@uniknode/protocol";
import { toSignaturesText } from "../../../store/chain/visible-fields.ts";
import type { Dictionary } from "../../../store/engine/dictionary.ts";
import type { StoredBlock, StoredTransaction } from "../../rows.ts";

/** Integer up to 2^63; decimal text if it is not exact as a number. */
type IntegerColumn = number | string;

/** Returns SQL of the column. The text of each integer would cost as much as three columns. */
const integerColumn = (column: string, name: string): string =>
  `iif(${column} > ${Number.MAX_SAFE_INTEGER}, CAST(${column} AS TEXT), ${column}) AS ${name}`;

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
const SIGNATURE_AT = 234;
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
    blockSignature: header.slice(SIGNATURE_AT + shift),
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
  const at = SIGNATURE_AT + FULL_PARENT;
  return id.length === 64 && header.slice(at, at + 6) === SIGNATURE_STARTS[(header.length - at) / 2 - 2];
}

export type TransactionRow = Omit<
  StoredTransaction,
  "id" | "version" | "senderPublicKey" | "recipientId" | "signatures" | "blockId" | "amount" | "fee" | "nonce"
> & {
  /** Upper-case hexadecimal of the id of the block, the id and the bytes. */
  readonly text: string;
  /** Number of the bytes. */
  readonly size: number;
  readonly amount: IntegerColumn;
  readonly fee: IntegerColumn;
  readonly nonce: IntegerColumn;
  /** Number of the recipient. */
  readonly recipient: number | null;
  /** Number of signatures of 64 bytes at the end of the bytes; 0 for other forms. */
  readonly signatures: number;
};

const integer = (column: string) => integerColumn(`transactions.${column}`, column);

export const TRANSACTION_COLUMNS = `hex(block || id || bytes) AS text, length(bytes) AS size, type_group AS typeGroup, type, recipient,
  ${integer("amount")}, ${integer("fee")}, ${integer("nonce")}, vendor_field AS vendorField, signatures, asset, height, timestamp`;

/** Digits of a full id, of a public key and of a signature. */
const [ID, KEY, SIGNATURE] = [64, 66, 128];
/** Positions in the bytes (transactions.md 3): of the second digit of the version, and of the sender by version. */
const [VERSION, SENDER_V1, SENDER_V2] = [3, 16, 34];
const ZERO = "0".charCodeAt(0);

/** Slices members from the text: bytes of each member would cost three times as much. */
export function toStoredTransaction(row: TransactionRow, recipients: Dictionary): StoredTransaction {
  const text = row.text.toLowerCase();
  const bytes = text.length - 2 * row.size;
  const version = text.charCodeAt(bytes + VERSION) - ZERO;
  const sender = bytes + (version === 1 ? SENDER_V1 : SENDER_V2);
  return {
    id: text.slice(bytes - ID, bytes),
    version,
    typeGroup: row.typeGroup,
    type: row.type,
    senderPublicKey: text.slice(sender, sender + KEY),
    recipientId: row.recipient === null ? null : recipients.textOf(row.recipient),
    amount: `${row.amount}`,
    fee: `${row.fee}`,
    vendorField: row.vendorField,
    signatures: signaturesOf(row, text),
    asset: row.asset,
    blockId: blockIdOf(text.slice(0, bytes - ID)),
    height: row.height,
    timestamp: row.timestamp,
    nonce: `${row.nonce}`,
  };
}

/** A partial id is stored as text. */
const blockIdOf = (digits: string): string =>
  digits.length === ID ? digits : Buffer.from(digits, "hex").toString("latin1");

function signaturesOf({ signatures, size }: TransactionRow, text: string): string {
  const last = text.slice(-SIGNATURE);
  if (signatures === 1) return `"signature":"${last}"`;
  if (signatures === 2) {
    return `"signature":"${text.slice(-2 * SIGNATURE, -SIGNATURE)}","signSignature":"${last}"`;
  }
  return toSignaturesText(sealedFromTrustedBytes(hexToBytes(text.slice(-2 * size)), "").data);
}
