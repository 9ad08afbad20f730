/** The checks of a received transaction before it enters the pool, in their order (pool.md 4). */
import { hopelessReason, isVerifiedIn, walletOf } from "@uniknode/ledger";
import {
  isReadableDer,
  type Milestone,
  type SealedTransaction,
  type SignatureJob,
  signatureJob,
  TransactionError,
  transactionFromJson,
} from "@uniknode/protocol";
import type { Steps } from "../../platform/threads/time-slices.ts";
import { schemeOf } from "../../verification/packed-checks.ts";
import { isRefusal } from "../contents/senders.ts";
import { Refusal, type RefusalCode, SenderLimitError } from "../refusal.ts";
import { blockLimits } from "../selection.ts";
import type { Candidate } from "./candidate.ts";
import { checkFee, type FeePolicy } from "./fees.ts";
import { type AdmissionDeps, milestoneOf, type PrecheckOptions, precheck, recheck } from "./precheck.ts";

export type AdmissionOptions = PrecheckOptions & { readonly fees: FeePolicy };

export type Refused = { readonly id: string; readonly code: RefusalCode; readonly message: string };

/** Result of the checks of one request. */
export type CheckResult = {
  readonly accept: SealedTransaction[];
  readonly broadcast: SealedTransaction[];
  /** Ids as received. */
  readonly excess: string[];
  readonly refused: Refused[];
};

/** A candidate, its transaction, and the check of its own signature. */
export type ParsedCandidate = {
  readonly candidate: Candidate;
  readonly transaction: SealedTransaction;
  /** The verdict itself if it does not depend on the signature. */
  readonly job: SignatureJob | boolean;
};

/** Stage B between its steps 11 and 12, while other threads check the signatures. */
export type ParsedRequest = {
  readonly milestone: Milestone;
  readonly candidates: readonly Candidate[];
  readonly parsedCandidates: readonly ParsedCandidate[];
  readonly result: CheckResult;
};

/** Steps 1 to 11, a candidate in each. They do not change the pool. */
export function* parseCandidates(
  candidates: readonly Candidate[],
  options: AdmissionOptions,
  deps: AdmissionDeps,
): Steps<ParsedRequest> {
  const milestone = milestoneOf(deps);
  const parsedCandidates: ParsedCandidate[] = [];
  const result: CheckResult = { accept: [], broadcast: [], excess: [], refused: [] };
  for (const candidate of candidates) {
    const code = runChecks(candidate, result, () => {
      precheck(candidate, candidates, options, deps);
      refuseUnsigned(candidate, deps);
      const parsed = parseTransaction(candidate, deps);
      checkSize(parsed.transaction, milestone);
      refuseHopeless(parsed.transaction, milestone, options, deps);
      parsedCandidates.push({ candidate, ...parsed });
    });
    // Trap D4: the rest of the batch is neither accepted nor reported.
    if (code === "ERR_TOO_LARGE") break;
    yield;
  }
  return { milestone, candidates, parsedCandidates, result };
}

/**
 * Steps 12 and 13, with the verdicts of the transactions' own signatures; a candidate in each step. Requests and blocks
 * may have been processed in the meantime, so the checks that depend on the pool and the chain are repeated.
 */
export function* judgeCandidates(
  { milestone, candidates, parsedCandidates, result }: ParsedRequest,
  verdicts: readonly boolean[],
  options: AdmissionOptions,
  deps: AdmissionDeps,
): Steps<CheckResult> {
  for (const [index, { candidate, ...parsed }] of parsedCandidates.entries()) {
    runChecks(candidate, result, () => {
      recheck(candidate, candidates, options, deps);
      const current = milestoneOf(deps);
      const { transaction } = current === milestone ? parsed : parseTransaction(candidate, deps);
      const sealed = { ...transaction, isVerified: verdicts[index] === true };
      checkSignatures(sealed, deps);
      const fee = requireFee(sealed, current, options);
      if (fee.pool) result.accept.push(sealed);
      if (fee.broadcast) result.broadcast.push(sealed);
    });
    yield;
  }
  return result;
}

/** Runs checks, and records a refusal in the result. Returns its code. */
function runChecks({ id }: Candidate, result: CheckResult, test: () => void): RefusalCode | undefined {
  try {
    test();
    return undefined;
  } catch (error) {
    if (error instanceof SenderLimitError) result.excess.push(id);
    else if (error instanceof Refusal) result.refused.push({ id, code: error.code, message: error.message });
    else throw error;
    return error instanceof Refusal ? error.code : undefined;
  }
}

/**
 * Runs step 12 before steps 9 to 11, which cost most of the time: without a signature that counts for its
 * sender, a transaction fails in any case.
 *
 * @throws {Refusal}
 */
function refuseUnsigned({ id, senderPublicKey, input }: Candidate, { network, state }: AdmissionDeps): void {
  if (!PUBLIC_KEY.test(senderPublicKey) || network.exceptions.transactions?.includes(id)) return;
  const { signature, signatures } = input as { readonly signature?: unknown; readonly signatures?: unknown };
  const { multiSignature } = walletOf(state, senderPublicKey, network).attributes;
  const [needed, other] = multiSignature ? [signatures, signature] : [signature, signatures];
  // Without both, it is the schema that refuses.
  if (needed === undefined && other !== undefined) throw new Refusal("ERR_BAD_DATA", NOT_VERIFIED);
}

const PUBLIC_KEY = /^0[23][0-9a-f]{64}$/;

/**
 * Ends the admission before step 12 for senders with many signatures: transactions that the chain can never
 * apply are not verified.
 *
 * @throws {Refusal}
 */
function refuseHopeless(
  transaction: SealedTransaction,
  milestone: Milestone,
  options: AdmissionOptions,
  { state, network, storedIds }: AdmissionDeps,
): void {
  const { data } = transaction;
  const sender = walletOf(state, data.senderPublicKey, network);
  if (!sender.attributes.multiSignature || network.exceptions.transactions?.includes(data.id)) return;
  const reason = hopelessReason(data, sender);
  if (!reason) return;
  requireFee(transaction, milestone, options);
  if (storedIds([data.id]).has(data.id)) throw new Refusal("ERR_FORGED", "Already forged.");
  throw new Refusal("ERR_APPLY", reason.message);
}

/** Steps 9 and 10. */
function parseTransaction(
  { input }: Candidate,
  { network, head }: AdmissionDeps,
): Pick<ParsedCandidate, "transaction" | "job"> {
  const context = { network, height: head().height };
  try {
    const transaction = transactionFromJson(input, context, { checkSignature: false });
    const job = signatureJob(transaction, context);
    if (typeof job !== "boolean" && schemeOf(job) === "ecdsa" && !isReadableDer(job.signature)) {
      throw new RangeError("the signature is not valid DER");
    }
    return { transaction, job };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new Refusal(codeOf(error), codeOf(error) === "ERR_BAD_DATA" ? NOT_VERIFIED : error.message);
  }
}

const NOT_VERIFIED = "Transaction didn't pass the verification process.";

function codeOf(error: Error): RefusalCode {
  const code = error instanceof TransactionError ? error.code : undefined;
  if (code === "TransactionSchemaError") return "ERR_TRANSACTION_SCHEMA";
  // A version that is not in force cannot have a valid signature.
  return code === "TransactionVersionError" ? "ERR_BAD_DATA" : "ERR_UNKNOWN";
}

/** Step 11. */
function checkSize({ data, bytes }: SealedTransaction, milestone: Milestone): void {
  const { maxBytes } = blockLimits(milestone);
  if (bytes.length <= maxBytes) return;
  throw new Refusal("ERR_TOO_LARGE", `Transaction ${data.id} is larger than ${maxBytes} bytes.`);
}

/**
 * Step 13.
 *
 * @throws {Refusal}
 */
function requireFee(transaction: SealedTransaction, milestone: Milestone, { fees }: AdmissionOptions) {
  const fee = checkFee(transaction, milestone, fees);
  if (fee.pool || fee.broadcast) return fee;
  throw new Refusal("ERR_LOW_FEE", "The fee is too low to broadcast and accept the transaction");
}

/** Step 12. */
function checkSignatures(
  transaction: SealedTransaction,
  { state, network, signatures }: AdmissionDeps,
): void {
  let isVerified: boolean;
  try {
    isVerified = isVerifiedIn(state, transaction, network, { signatures });
  } catch (error) {
    if (isRefusal(error)) throw new Refusal("ERR_UNKNOWN", error.message);
    throw error;
  }
  if (!isVerified) throw new Refusal("ERR_BAD_DATA", NOT_VERIFIED);
}
