/** The tests that a received transaction passes on its way into the pool, in their order (pool.md 4). */
import { isVerifiedIn } from "@uniknode/ledger";
import {
  isReadableDer,
  type Milestone,
  type SealedTransaction,
  type SignatureJob,
  signatureJob,
  TransactionError,
  transactionFromJson,
} from "@uniknode/protocol";
import { isRefusal } from "../contents/senders.ts";
import type { Candidate } from "./candidate.ts";
import { type FeePolicy, judgeFee } from "./fees.ts";
import {
  type ArrivalDeps,
  type ArrivalOptions,
  checkArrival,
  checkStanding,
  milestoneOf,
} from "./precheck.ts";
import { Refusal, type RefusalCode, SenderLimitError } from "./refusal.ts";

export type AdmissionOptions = ArrivalOptions & { readonly fees: FeePolicy };

export type Refused = { readonly id: string; readonly code: RefusalCode; readonly message: string };

/** What the tests say of the transactions of one request. */
export type Judgement = {
  readonly accept: SealedTransaction[];
  readonly broadcast: SealedTransaction[];
  /** Ids as received. */
  readonly excess: string[];
  readonly refused: Refused[];
};

/** A candidate that is a transaction, and what is left to be done for its own signature. */
export type Examined = {
  readonly candidate: Candidate;
  readonly transaction: SealedTransaction;
  /** The verdict where it does not depend on the signature. */
  readonly job: SignatureJob | boolean;
};

/** Stage B on its way: between its steps 11 and 12 the signatures are checked in other threads. */
export type Examination = {
  readonly milestone: Milestone;
  readonly candidates: readonly Candidate[];
  readonly examined: readonly Examined[];
  readonly judgement: Judgement;
};

/** Room kept free in a block for its header and lengths. */
const BLOCK_OVERHEAD_BYTES = 10_240;
const SCHNORR_BYTES = 64;

/** Steps 1 to 11. Nothing here changes the pool. */
export function examine(
  candidates: readonly Candidate[],
  options: AdmissionOptions,
  deps: ArrivalDeps,
): Examination {
  const milestone = milestoneOf(deps);
  const examined: Examined[] = [];
  const judgement: Judgement = { accept: [], broadcast: [], excess: [], refused: [] };
  for (const candidate of candidates) {
    const code = judge(candidate, judgement, () => {
      checkArrival(candidate, candidates, options, deps);
      const parsed = parse(candidate, deps);
      checkSize(parsed.transaction, milestone);
      examined.push({ candidate, ...parsed });
    });
    // Trap D4: the rest of the batch is neither accepted nor reported.
    if (code === "ERR_TOO_LARGE") break;
  }
  return { milestone, candidates, examined, judgement };
}

/**
 * Steps 12 and 13, with the verdicts on the examined transactions' own signatures. Requests and blocks may have
 * come while these were checked, so what depends on the pool and the chain is tested again.
 */
export function conclude(
  { milestone, candidates, examined, judgement }: Examination,
  verdicts: readonly boolean[],
  options: AdmissionOptions,
  deps: ArrivalDeps,
): Judgement {
  const current = milestoneOf(deps);
  for (const [index, { candidate, ...parsed }] of examined.entries()) {
    judge(candidate, judgement, () => {
      checkStanding(candidate, candidates, options, deps);
      const { transaction } = current === milestone ? parsed : parse(candidate, deps);
      const sealed = { ...transaction, isVerified: verdicts[index]! };
      checkSignatures(sealed, deps);
      const fee = judgeFee(sealed, current, options.fees);
      if (!fee.pool && !fee.broadcast) {
        throw new Refusal("ERR_LOW_FEE", "The fee is too low to broadcast and accept the transaction");
      }
      if (fee.pool) judgement.accept.push(sealed);
      if (fee.broadcast) judgement.broadcast.push(sealed);
    });
  }
  return judgement;
}

/** Runs tests and notes the refusal, whose code is returned. */
function judge({ id }: Candidate, judgement: Judgement, test: () => void): RefusalCode | undefined {
  try {
    test();
    return undefined;
  } catch (error) {
    if (error instanceof SenderLimitError) judgement.excess.push(id);
    else if (error instanceof Refusal)
      judgement.refused.push({ id, code: error.code, message: error.message });
    else throw error;
    return error instanceof Refusal ? error.code : undefined;
  }
}

/** Steps 9 and 10. */
function parse({ input }: Candidate, { network, head }: ArrivalDeps): Pick<Examined, "transaction" | "job"> {
  const context = { network, height: head().height };
  try {
    const transaction = transactionFromJson(input, context, { checkSignature: false });
    const job = signatureJob(transaction, context);
    if (typeof job !== "boolean" && job.signature.length !== SCHNORR_BYTES && !isReadableDer(job.signature)) {
      throw new RangeError("the signature is no readable DER");
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
  // A version that is not in force has no signature that could be valid.
  return code === "TransactionVersionError" ? "ERR_BAD_DATA" : "ERR_UNKNOWN";
}

/** Step 11. */
function checkSize({ data, bytes }: SealedTransaction, { block }: Milestone): void {
  const maxBytes = block.maxPayload - BLOCK_OVERHEAD_BYTES;
  if (bytes.length <= maxBytes) return;
  throw new Refusal("ERR_TOO_LARGE", `Transaction ${data.id} is larger than ${maxBytes} bytes.`);
}

/** Step 12. */
function checkSignatures(transaction: SealedTransaction, { state, network }: ArrivalDeps): void {
  let isVerified: boolean;
  try {
    isVerified = isVerifiedIn(state, transaction, network);
  } catch (error) {
    if (isRefusal(error)) throw new Refusal("ERR_UNKNOWN", error.message);
    throw error;
  }
  if (!isVerified) throw new Refusal("ERR_BAD_DATA", NOT_VERIFIED);
}
