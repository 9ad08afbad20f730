/** Stateless verification of signatures (transactions.md 10). */
import type { SignatureJob } from "../blocks/signature.ts";
import { hexToBytes } from "../crypto/bytes.ts";
import { isReadableDer } from "../crypto/der.ts";
import { verifyEcdsa } from "../crypto/ecdsa.ts";
import { sha256 } from "../crypto/hashes.ts";
import { verifySchnorr } from "../crypto/schnorr.ts";
import { isVerifiable } from "./activation.ts";
import { isExceptional, milestoneOf, type TransactionContext } from "./context.ts";
import { duplicateParticipant } from "./errors.ts";
import { multiSigningBytes, secondSigningBytes, signingBytes } from "./id.ts";
import type { SealedTransaction, TransactionBody } from "./transaction.ts";

const SCHNORR_BYTES = 64;

/** 64 bytes are a Schnorr signature, any other length is ECDSA (identities.md 8). */
export const verifyJob = ({ hash, signature, publicKey }: SignatureJob): boolean =>
  signature.length === SCHNORR_BYTES
    ? verifySchnorr(hash, signature, publicKey)
    : verifyEcdsa(hash, signature, publicKey);

/**
 * The remaining check of a parsed transaction: the sender's signature, or the result if it
 * does not depend on it. Bytes only, so that any thread can verify it.
 */
export function signatureJob(
  transaction: SealedTransaction,
  context: TransactionContext,
): SignatureJob | boolean {
  const decided = decidedVerdict(transaction, context);
  if (decided !== undefined) return decided;
  const { data, bytes } = transaction;
  return jobOf(signedPart(data, bytes), data.signature!, data.senderPublicKey);
}

/** The result of a parsed transaction if it does not depend on whether the sender's signature is valid. */
export function decidedVerdict(
  { data }: Pick<SealedTransaction, "data">,
  context: TransactionContext,
): boolean | undefined {
  // Rule 1.
  if (isExceptional(context, data.id)) return true;
  // Rule 2.
  const milestone = milestoneOf(context);
  if ((milestone.aip11 && data.version === 1) || !isVerifiable(data, milestone)) return false;
  // Rule 3.
  return data.signature === undefined ? false : undefined;
}

/** The bytes for signing: a part of the canonical ones if these end with the signature. */
function signedPart(data: TransactionBody, bytes: Uint8Array): Uint8Array {
  if (data.version === 1 || data.signatures) return signingBytes(data);
  const digits = data.signature!.length + (data.secondSignature?.length ?? 0);
  return bytes.subarray(0, bytes.length - digits / 2);
}

/**
 * The flag "verified" of a parsed transaction. Second signatures do not count (transactions.md 16 point 6).
 *
 * @throws {RangeError} if the signature is unreadable DER (identities.md 6)
 */
export function isVerified(transaction: SealedTransaction, context: TransactionContext): boolean {
  const job = signatureJob(transaction, context);
  if (typeof job === "boolean") return job;
  if (verifyJob(job)) return true;
  if (job.signature.length !== SCHNORR_BYTES && !isReadableDer(job.signature)) {
    throw new RangeError("the signature is no readable DER");
  }
  return false;
}

/** Whether the sender's signature is present and valid; nothing else is checked. */
export const verifySignature = (transaction: TransactionBody): boolean =>
  transaction.signature !== undefined &&
  verifyJob(jobOf(signingBytes(transaction), transaction.signature, transaction.senderPublicKey));

/** Whether the second signature is present and valid for the second key of the sender's wallet, 66 digits. */
export const verifySecondSignature = (transaction: TransactionBody, publicKey: string): boolean =>
  transaction.secondSignature !== undefined &&
  verifyJob(jobOf(secondSigningBytes(transaction), transaction.secondSignature, publicKey));

/**
 * Whether `min` of the keys have signed. Invalid entries are tolerated while the quorum is still possible, and
 * entries after the quorum are not checked (trap A17).
 *
 * @throws {TransactionError} DuplicateParticipantInMultiSignatureError
 * @throws {RangeError} if a checked entry has no key
 */
export function verifyMultiSignatures(
  transaction: TransactionBody,
  { min, publicKeys }: { min: number; publicKeys: readonly string[] },
): boolean {
  const { signatures = [] } = transaction;
  const hash = sha256(multiSigningBytes(transaction));
  const seen = new Set<number>();
  let valid = 0;
  for (const [i, entry] of signatures.entries()) {
    const index = Number.parseInt(entry.slice(0, 2), 16);
    if (seen.has(index)) throw duplicateParticipant(index);
    seen.add(index);
    const publicKey = publicKeys[index];
    if (publicKey === undefined) throw new RangeError(`the wallet has no participant ${index}`);
    if (verifySchnorr(hash, hexToBytes(entry.slice(2)), hexToBytes(publicKey))) valid++;
    if (valid === min) return true;
    if (signatures.length - (i + 1 - valid) < min) return false;
  }
  return false;
}

const jobOf = (bytes: Uint8Array, signature: string, publicKey: string): SignatureJob => ({
  hash: sha256(bytes),
  signature: hexToBytes(signature),
  publicKey: hexToBytes(publicKey),
});
