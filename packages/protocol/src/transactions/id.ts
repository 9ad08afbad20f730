/** Ids and the hashes that are signed (transactions.md 7). */

import { ByteWriter } from "../bytes/cursor.ts";
import { utf8ToBytes } from "../crypto/bytes.ts";
import { sha256Hex } from "../crypto/hashes.ts";
import { writeAddress } from "./addresses.ts";
import { assetMember } from "./asset.ts";
import { encodeTransaction, type SignaturePart, writeSignatures } from "./codec.ts";
import type { TransactionBody } from "./transaction.ts";

/** The bytes whose SHA-256 is the id or is signed. */
export const hashedBytes = (
  transaction: TransactionBody,
  exclude: readonly SignaturePart[] = [],
): Uint8Array =>
  transaction.version === 1
    ? hashedBytesV1(transaction, exclude)
    : encodeTransaction(transaction, { exclude });

/** Returns the bytes that the sender signs: the entries of `signatures` are covered (transactions.md 16 point 5). */
export const signingBytes = (transaction: TransactionBody): Uint8Array =>
  hashedBytes(transaction, ["signature", "secondSignature"]);

/** Returns the bytes that the second key signs. */
export const secondSigningBytes = (transaction: TransactionBody): Uint8Array =>
  hashedBytes(transaction, ["secondSignature"]);

/** Returns the bytes that the participants of a multi-signature wallet sign. */
export const multiSigningBytes = (transaction: TransactionBody): Uint8Array =>
  hashedBytes(transaction, ["signature", "secondSignature", "signatures"]);

/** Id of a transaction: 64 lower-case hexadecimal digits over all its signatures. */
export const transactionId = (transaction: TransactionBody): string => sha256Hex(hashedBytes(transaction));

const SECOND_SIGNATURE = 1;
const DELEGATE_REGISTRATION = 2;
const VOTE = 3;
const MULTI_SIGNATURE = 4;

const NO_RECIPIENT = new Uint8Array(21);
const VENDOR_FIELD_BYTES = 64;

/** Returns the bytes without marker, version, network, expiration and entries of `signatures`. */
function hashedBytesV1(transaction: TransactionBody, exclude: readonly SignaturePart[]): Uint8Array {
  const { type, timestamp, senderPublicKey, recipientId, vendorField, amount, fee } = transaction;
  const writer = new ByteWriter();
  writer.u8(type);
  writer.u32(timestamp ?? 0);
  writer.hex(senderPublicKey, 33);
  // Zeros for types 1 and 4 even with a recipient.
  if (recipientId && type !== SECOND_SIGNATURE && type !== MULTI_SIGNATURE) writeAddress(writer, recipientId);
  else writer.bytes(NO_RECIPIENT);
  const text = utf8ToBytes(vendorField ?? "");
  writer.bytes(text);
  // Padded, but longer text is not truncated.
  writer.bytes(new Uint8Array(Math.max(0, VENDOR_FIELD_BYTES - text.length)));
  writer.u64(amount);
  writer.u64(fee);
  writeAsset(transaction, writer);
  writeSignatures(transaction, [...exclude, "signatures"], writer);
  return writer.finish();
}

function writeAsset({ type, asset }: TransactionBody, writer: ByteWriter): void {
  if (type === SECOND_SIGNATURE) writer.hex(assetMember(asset, "signature").publicKey);
  else if (type === DELEGATE_REGISTRATION) writer.bytes(utf8ToBytes(assetMember(asset, "delegate").username));
  else if (type === VOTE) writer.bytes(utf8ToBytes(assetMember(asset, "votes").join("")));
  else if (type === MULTI_SIGNATURE) {
    const { min, lifetime, keysgroup } = assetMember(asset, "multiSignatureLegacy");
    writer.u8(min);
    writer.u8(lifetime);
    writer.bytes(utf8ToBytes(keysgroup.join("")));
  }
}
