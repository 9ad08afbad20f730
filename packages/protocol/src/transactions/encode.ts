/** Encodes transactions to bytes (transactions.md 3). */

import { type ByteWriter, createWriter } from "../bytes/writer.ts";
import { present } from "../present.ts";
import { type SignaturePart, writeSignatures } from "./signatures.ts";
import type { TransactionBody } from "./transaction.ts";
import { findTransactionType, unknownType } from "./types/registry.ts";

const MARKER = 0xff;

export type EncodeOptions = {
  /** Signatures to omit, for hashes. */
  exclude?: readonly SignaturePart[];
};

/**
 * The canonical bytes, which are stored and sent.
 *
 * @throws {TransactionError} UnkownTransactionError
 * @throws {Error} if a member is missing or cannot be encoded (transactions.md 9)
 */
export function encodeTransaction(
  transaction: TransactionBody,
  { exclude = [] }: EncodeOptions = {},
): Uint8Array {
  const type = findTransactionType(transaction.typeGroup, transaction.type);
  if (!type) throw unknownType(transaction.typeGroup, transaction.type);
  const writer = createWriter();
  writer.u8(MARKER);
  writer.u8(transaction.version);
  writer.u8(transaction.network);
  if (transaction.version === 1) writeHeaderV1(transaction, writer);
  else writeHeaderV2(transaction, writer);
  // Other types write length 0, regardless of the member.
  writer.shortText((type.hasVendorField && transaction.vendorField) || "");
  type.write(transaction, writer);
  writeSignatures(transaction, exclude, writer);
  return writer.finish();
}

/** Offsets 3 to 57 (transactions.md 3.1). */
function writeHeaderV2(
  { typeGroup, type, nonce, senderPublicKey, fee }: TransactionBody,
  writer: ByteWriter,
) {
  writer.u32(typeGroup);
  writer.u16(type);
  writer.u64(present(nonce, "nonce"));
  writer.hex(senderPublicKey, 33);
  writer.u64(fee);
}

/** Offsets 3 to 48 (transactions.md 3.2). */
function writeHeaderV1({ type, timestamp, senderPublicKey, fee }: TransactionBody, writer: ByteWriter) {
  writer.u8(type);
  writer.u32(timestamp ?? 0);
  writer.hex(senderPublicKey, 33);
  writer.u64(fee);
}
