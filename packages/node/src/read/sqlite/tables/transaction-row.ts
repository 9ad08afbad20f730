/** Rows of transactions: most members are in the signed bytes, which one statement returns as one text with the id. */
import { hexToBytes, sealedFromTrustedBytes } from "@uniknode/protocol";
import { toSignaturesText } from "../../../store/chain/visible-fields.ts";
import type { Dictionary } from "../../../store/engine/dictionary.ts";
import type { StoredTransaction } from "../../rows.ts";
import { type IntegerColumn, integerColumn } from "./integer-column.ts";

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
