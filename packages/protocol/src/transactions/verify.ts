/** Stateless verification of signatures (transactions.md 10). */

import { hexToBytes } from "../crypto/bytes.ts";
import { isReadableDer } from "../crypto/der.ts";
import { sha256 } from "../crypto/hashes.ts";
import type { SignatureJob } from "../crypto/signature-job.ts";
import { verifyEcdsa, verifySchnorr } from "../crypto/signatures.ts";
import type { Participants } from "../identities/multisignature.ts";
import { duplicateParticipant, TransactionError } from "./errors.ts";
import { multiSigningBytes, secondSigningBytes, signingBytes } from "./id.ts";
import type { SealedTransaction, TransactionBody } from "./transaction.ts";
import { isExceptional, isVerifiable, milestoneOf, type TransactionContext } from "./types/registry.ts";

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
  const { signature } = data;
  if (signature === undefined) return false;
  return jobOf(signedPart(data, signature, bytes), signature, data.senderPublicKey);
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
function signedPart(data: TransactionBody, signature: string, bytes: Uint8Array): Uint8Array {
  if (data.version === 1 || data.signatures) return signingBytes(data);
  const digits = signature.length + (data.secondSignature?.length ?? 0);
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
    throw new RangeError("the signature is not valid DER");
  }
  return false;
}

/** Returns true if the sender's signature is present and valid; nothing else is checked. */
export const verifySignature = (transaction: TransactionBody): boolean =>
  transaction.signature !== undefined &&
  verifyJob(jobOf(signingBytes(transaction), transaction.signature, transaction.senderPublicKey));

/**
 * Returns true if the second signature is present and valid for the second key of the sender's wallet, 66
 * digits.
 */
export function verifySecondSignature(
  transaction: TransactionBody,
  publicKey: string,
  verify: (job: SignatureJob) => boolean = verifyJob,
): boolean {
  const job = secondSignatureJob(transaction, publicKey);
  return job !== undefined && verify(job);
}

/** Verdict of the entry at an index of `signatures`. */
type EntryVerdict = (job: SignatureJob, index: number) => boolean;

const verifyEntry: EntryVerdict = ({ hash, signature, publicKey }) =>
  verifySchnorr(hash, signature, publicKey);

/**
 * Returns true if `min` of the keys have signed. Invalid entries are tolerated while the quorum is still
 * possible, and entries after the quorum are not checked (trap A17).
 *
 * @param verify gives the verdict of an entry; called in the order of the entries, until the quorum is
 *   decided
 * @throws {TransactionError} DuplicateParticipantInMultiSignatureError
 * @throws {RangeError} if a checked entry has no key
 */
export function verifyMultiSignatures(
  transaction: TransactionBody,
  { min, publicKeys }: Participants,
  verify: EntryVerdict = verifyEntry,
): boolean {
  const { signatures = [] } = transaction;
  let valid = 0;
  for (const [index, job] of entryJobs(transaction, publicKeys)) {
    if (verify(job, index)) valid++;
    if (valid === min) return true;
    if (signatures.length - (index + 1 - valid) < min) return false;
  }
  return false;
}

/**
 * Returns the checks of the entries of `signatures` in order, up to the first one that has no key or repeats a participant:
 * the maximum for `verifyMultiSignatures`, for verification in another thread.
 */
export function multiSignatureJobs(
  transaction: TransactionBody,
  publicKeys: readonly string[],
): SignatureJob[] {
  const jobs: SignatureJob[] = [];
  try {
    for (const [, job] of entryJobs(transaction, publicKeys)) jobs.push(job);
  } catch (error) {
    // The rules meet the same entry, unless the quorum is decided before.
    if (!(error instanceof TransactionError || error instanceof RangeError)) throw error;
  }
  return jobs;
}

function* entryJobs(
  transaction: TransactionBody,
  publicKeys: readonly string[],
): Generator<readonly [index: number, job: SignatureJob]> {
  const hash = sha256(multiSigningBytes(transaction));
  const seen = new Set<number>();
  for (const [index, entry] of (transaction.signatures ?? []).entries()) {
    const participant = Number.parseInt(entry.slice(0, 2), 16);
    if (seen.has(participant)) throw duplicateParticipant(participant);
    seen.add(participant);
    const publicKey = publicKeys[participant];
    if (publicKey === undefined) throw new RangeError(`the wallet has no participant ${participant}`);
    yield [index, { hash, signature: hexToBytes(entry.slice(2)), publicKey: hexToBytes(publicKey) }];
  }
}

/** The check of the second signature by the second key of the sender's wallet, 66 digits; undefined without one. */
export const secondSignatureJob = (
  transaction: TransactionBody,
  publicKey: string,
): SignatureJob | undefined =>
  transaction.secondSignature === undefined
    ? undefined
    : jobOf(secondSigningBytes(transaction), transaction.secondSignature, publicKey);

const jobOf = (bytes: Uint8Array, signature: string, publicKey: string): SignatureJob => ({
  hash: sha256(bytes),
  signature: hexToBytes(signature),
  publicKey: hexToBytes(publicKey),
});
