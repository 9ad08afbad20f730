/** Encodes transactions to bytes, and decodes them (transactions.md 3), with the signatures after their payload (transactions.md 5). */
import { ByteReader, ByteWriter } from "../bytes/cursor.ts";
import { addressFromPublicKey } from "../identities/address.ts";
import { present } from "../present.ts";
import { duplicateParticipant } from "./errors.ts";
import type { TransactionBody } from "./transaction.ts";
import { TYPE_GROUPS } from "./type-groups.ts";
import { findTransactionType, unknownType } from "./types/registry.ts";

/** Signatures that a hash may omit. */
export type SignaturePart = "signature" | "secondSignature" | "signatures";

type Signatures = Pick<TransactionBody, SignaturePart>;

const SCHNORR_BYTES = 64;
/** One index byte and a Schnorr signature. */
const ENTRY_BYTES = 65;
/** Prefix of the entries in the legacy layout of version 1. */
const LEGACY_SEPARATOR = 0xff;

/** Neither lengths nor a count are written. */
export function writeSignatures(
  { signature, secondSignature, signatures }: Signatures,
  exclude: readonly SignaturePart[],
  writer: ByteWriter,
): void {
  // The schema only requires letters and digits: everything from the first non-hexadecimal pair on is omitted.
  if (signature && !exclude.includes("signature")) writer.hexPrefix(evenText(signature));
  if (secondSignature && !exclude.includes("secondSignature")) writer.hexPrefix(evenText(secondSignature));
  if (signatures && !exclude.includes("signatures")) writer.hexPrefix(evenText(signatures.join("")));
}

function evenText(text: string): string {
  if (text.length % 2 !== 0) throw new RangeError("a signature must have an even number of digits");
  return text;
}

/**
 * Reads the remaining bytes.
 *
 * @throws {TransactionError} DuplicateParticipantInMultiSignatureError
 * @throws {RangeError} if they are not a sequence of signatures
 */
export function readSignatures(reader: ByteReader, version: number): Signatures {
  return version !== 1 && isSchnorrMode(reader.remaining()) ? readSchnorr(reader) : readDer(reader);
}

/** A remainder of -65 counts as 63 bytes too; reading them fails for lack of bytes. */
const isSchnorrMode = (remaining: number): boolean =>
  remaining === SCHNORR_BYTES ||
  remaining === 2 * SCHNORR_BYTES ||
  remaining % ENTRY_BYTES === 0 ||
  (remaining - SCHNORR_BYTES) % ENTRY_BYTES === 0 ||
  (remaining - 2 * SCHNORR_BYTES) % ENTRY_BYTES === 0;

function readSchnorr(reader: ByteReader): Signatures {
  const signatures: Signatures = {};
  const isSingleNext = () => {
    const remaining = reader.remaining();
    return remaining > 0 && (remaining % SCHNORR_BYTES === 0 || remaining % ENTRY_BYTES !== 0);
  };
  if (isSingleNext()) signatures.signature = reader.hex(SCHNORR_BYTES);
  if (isSingleNext()) signatures.secondSignature = reader.hex(SCHNORR_BYTES);
  if (reader.remaining() > 0) signatures.signatures = readEntries(reader);
  return signatures;
}

function readEntries(reader: ByteReader): string[] {
  if (reader.remaining() % ENTRY_BYTES !== 0) throw new RangeError("unexpected bytes after the signatures");
  const indexes = new Set<number>();
  return Array.from({ length: reader.remaining() / ENTRY_BYTES }, () => {
    const index = present(reader.peek(), "the index of a signature");
    if (indexes.has(index)) throw duplicateParticipant(index);
    indexes.add(index);
    return reader.hex(ENTRY_BYTES);
  });
}

function readDer(reader: ByteReader): Signatures {
  const signatures: Signatures = {};
  // The second byte of DER counts the bytes that follow it.
  const readOne = () => reader.hex(2 + (reader.peek(1) ?? 0));
  if (reader.remaining() > 0) signatures.signature = readOne();
  if (reader.remaining() > 0 && reader.peek() !== LEGACY_SEPARATOR) signatures.secondSignature = readOne();
  if (reader.peek() === LEGACY_SEPARATOR) {
    reader.skip(1);
    signatures.signatures = [reader.hex(reader.remaining())];
  }
  if (reader.remaining() > 0) throw new RangeError("unexpected bytes after the signatures");
  return signatures;
}

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
  const writer = new ByteWriter();
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
  const reader = new ByteReader(bytes);
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
