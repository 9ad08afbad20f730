/** The signatures after a transaction's payload (transactions.md 5). */

import type { ByteReader } from "../bytes/reader.ts";
import type { ByteWriter } from "../bytes/writer.ts";
import { present } from "../present.ts";
import { duplicateParticipant } from "./errors.ts";
import type { TransactionBody } from "./transaction.ts";

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
