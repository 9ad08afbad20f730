/** Decodes transactions from bytes (transactions.md 3). */
import { type ByteReader, createReader } from "../bytes/reader.ts";
import { addressFromPublicKey } from "../identities/address.ts";
import { readSignatures } from "./signatures.ts";
import type { TransactionBody } from "./transaction.ts";
import { TYPE_GROUPS } from "./type-groups.ts";
import { findTransactionType, unknownType } from "./types/registry.ts";

/** Core vote. */
const VOTE = 3;

/**
 * Decodes bytes without checking schema, version or signature. The bytes need not be canonical: the id is
 * computed from a new encoding.
 *
 * @throws {TransactionError} UnkownTransactionError, DuplicateParticipantInMultiSignatureError
 * @throws {Error} if the bytes do not match a layout
 */
export function decodeTransaction(bytes: Uint8Array): TransactionBody {
  const reader = createReader(bytes);
  // The marker is not checked.
  reader.skip(1);
  const version = reader.u8();
  const network = reader.u8();
  const header = version === 1 ? readHeaderV1(reader) : readHeaderV2(reader);
  const type = findTransactionType(header.typeGroup, header.type);
  if (!type) throw unknownType(header.typeGroup, header.type);

  const transaction: TransactionBody = { version, network, ...header, amount: 0n };
  const vendorFieldBytes = reader.u8();
  // Other types skip it; it is not part of their id.
  if (!type.hasVendorField) reader.skip(vendorFieldBytes);
  else if (vendorFieldBytes > 0) transaction.vendorField = reader.text(vendorFieldBytes);
  Object.assign(transaction, type.read(reader, version), readSignatures(reader, version));

  // The bytes of a vote have no recipient, but the hash of version 1 does (transactions.md 6.2).
  if (version === 1 && header.type === VOTE && network !== 0) {
    transaction.recipientId = addressFromPublicKey(header.senderPublicKey, network);
  }
  return transaction;
}

const readHeaderV2 = (reader: ByteReader) => ({
  typeGroup: reader.u32(),
  type: reader.u16(),
  nonce: reader.u64(),
  senderPublicKey: reader.hex(33),
  fee: reader.u64(),
});

const readHeaderV1 = (reader: ByteReader) => ({
  typeGroup: TYPE_GROUPS.core,
  type: reader.u8(),
  timestamp: reader.u32(),
  senderPublicKey: reader.hex(33),
  fee: reader.u64(),
});
