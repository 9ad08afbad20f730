/** Ids and the hashes that are signed (transactions.md 7). */
import { sha256Hex } from "../crypto/hashes.ts";
import { encodeTransaction } from "./encode.ts";
import { hashedBytesV1 } from "./legacy.ts";
import type { SignaturePart } from "./signatures.ts";
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
