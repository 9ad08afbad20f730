/** Parses submitted transactions, and refuses all that can be refused without a signature (pool.md 3 and 4). */
import {
  hopelessReason,
  INDIVIDUAL,
  isCertifiedMint,
  typeFromText,
  unsupportedMultiSignatures,
  walletOf,
} from "@uniknode/ledger";
import {
  isReadableDer,
  type Milestone,
  matchesBatchSchema,
  minimumFee,
  type SchemaViolation,
  type SealedTransaction,
  type SignatureJob,
  signatureJob,
  staticFee,
  type TransactionContext,
  TransactionError,
  TYPE_GROUPS,
  transactionFromJson,
  transactionKey,
} from "@uniknode/protocol";
import { CodedError } from "../../platform/coded-error.ts";
import type { Steps } from "../../platform/threads/time-slices.ts";
import { schemeOf } from "../../verification/packed-checks.ts";
import { Refusal, type RefusalCode } from "../events.ts";
import type { FeePolicy, PoolOptions } from "../pool-options.ts";
import { blockLimits } from "../selection.ts";
import { type Candidate, type CheckResult, candidateFrom, runChecks } from "./candidate.ts";
import { type AdmissionDeps, checkRecipient, checkRules, milestoneOf } from "./rules.ts";

/** A candidate, its transaction, and the check of its own signature. */
export type ParsedCandidate = {
  readonly candidate: Candidate;
  readonly transaction: SealedTransaction;
  /** The verdict itself if it does not depend on the signature. */
  readonly job: SignatureJob | boolean;
};

/** A request between `parse` and `admit`, while other threads verify its signatures. */
export type ParsedRequest = {
  /** Candidates whose id was not seen since the last block, and the ids of the others. */
  readonly fresh: readonly Candidate[];
  readonly repeated: ReadonlySet<string>;
  readonly milestone: Milestone;
  readonly parsedCandidates: readonly ParsedCandidate[];
  readonly result: CheckResult;
};

/** An item of a submission fails the schema: nothing of the submission was processed. */
export class BatchError extends CodedError<"BATCH_SCHEMA"> {
  readonly violation: SchemaViolation;

  constructor(violation: SchemaViolation) {
    super("BATCH_SCHEMA", `the item at ${violation.path} ${violation.expectation}`, { isRetryable: false });
    this.violation = violation;
  }
}

/**
 * First function of an admission: the batch schema, stage A, and steps 1 to 11 of stage B; a candidate in each step.
 * The pool does not change.
 *
 * @throws {BatchError}
 */
export function* parse(
  inputs: readonly unknown[],
  isBatch: boolean,
  options: PoolOptions,
  deps: AdmissionDeps,
): Steps<ParsedRequest> {
  const { network, head, recentIds } = deps;
  if (isBatch) yield* checkBatch(inputs, { network, height: head().height });
  // Stage A: ids seen since the last block, whatever their outcome
  const [fresh, repeated] = recentIds.partition(inputs.map(candidateFrom));
  try {
    return { fresh, repeated, ...(yield* parseCandidates(fresh, options, deps)) };
  } catch (error) {
    // Nothing was decided: the client may send them again.
    recentIds.forget(fresh.map(({ id }) => id));
    throw error;
  }
}

/**
 * Checks an item in each step.
 *
 * @throws {BatchError} with the first violation
 */
function* checkBatch(items: readonly unknown[], context: TransactionContext): Steps<void> {
  for (const [index, item] of items.entries()) {
    const violation = matchesBatchSchema([item], context);
    if (violation) throw new BatchError({ ...violation, path: violation.path.replace("/0", `/${index}`) });
    yield;
  }
}

function* parseCandidates(
  fresh: readonly Candidate[],
  options: PoolOptions,
  deps: AdmissionDeps,
): Steps<Pick<ParsedRequest, "milestone" | "parsedCandidates" | "result">> {
  const { pubKeyHash } = deps.network.description;
  const milestone = milestoneOf(deps);
  const parsedCandidates: ParsedCandidate[] = [];
  const result: CheckResult = { accept: [], broadcast: [], excess: [], refused: [] };
  for (const candidate of fresh) {
    const code = runChecks(candidate, result, () => {
      checkRules(candidate, fresh, options, deps);
      checkRecipient(candidate, pubKeyHash);
      refuseUnsigned(candidate, deps);
      refuseStraySignatures(candidate, fresh, deps);
      const parsed = sealCandidate(candidate, deps);
      checkSize(parsed.transaction, milestone);
      refuseHopeless(parsed.transaction, milestone, options, deps);
      parsedCandidates.push({ candidate, ...parsed });
    });
    // Trap D4: the rest of the batch is neither accepted nor reported.
    if (code === "ERR_TOO_LARGE") break;
    yield;
  }
  return { milestone, parsedCandidates, result };
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
 * Refuses `signatures` beside `signature` before they are parsed: without a multisignature wallet, and without a
 * registration that makes the sender one, the ledger refuses them in any case.
 *
 * @param request all candidates of the request
 * @throws {Refusal}
 */
function refuseStraySignatures(
  { id, senderPublicKey, input }: Candidate,
  request: readonly Candidate[],
  { network, state, senders }: AdmissionDeps,
): void {
  const { signatures } = input as { readonly signatures?: unknown };
  if (!Array.isArray(signatures) || signatures.length === 0 || !PUBLIC_KEY.test(senderPublicKey)) return;
  if (network.exceptions.transactions?.includes(id)) return;
  const isSender = walletOf(state, senderPublicKey, network).attributes.multiSignature !== undefined;
  const becomesSender = () =>
    senders.walletOf(senderPublicKey).attributes.multiSignature !== undefined ||
    request.some((other) => other.senderPublicKey === senderPublicKey && isRegistration(other));
  if (!isSender && !becomesSender()) throw new Refusal("ERR_APPLY", unsupportedMultiSignatures().message);
}

/** Returns true for a registration of a multisignature wallet. */
const isRegistration = ({ typeGroup, type }: Candidate): boolean =>
  typeGroup === TYPE_GROUPS.core && type === MULTI_SIGNATURE;

const MULTI_SIGNATURE = 4;

/**
 * Refuses a transaction with many signatures, before step 12 verifies them, if the chain or the pending transactions of
 * its sender do not allow it.
 *
 * @throws {Refusal}
 */
function refuseHopeless(
  transaction: SealedTransaction,
  milestone: Milestone,
  options: PoolOptions,
  { state, network, storedIds, senders }: AdmissionDeps,
): void {
  const { data } = transaction;
  // Others have one or two signatures, and their refusals are events: pool.md 4.
  if (data.signatures === undefined || network.exceptions.transactions?.includes(data.id)) return;
  const reason = hopelessReason(data, state, senders.walletOf(data.senderPublicKey));
  if (!reason) return;
  requireFee(transaction, milestone, options.fees);
  if (storedIds([data.id]).has(data.id)) throw new Refusal("ERR_FORGED", "Already forged.");
  throw new Refusal("ERR_APPLY", reason.message);
}

/** Steps 9 and 10. */
export function sealCandidate(
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

export const NOT_VERIFIED = "Transaction didn't pass the verification process.";

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

/** Minimum fees are local policy (pool.md 7), blocks may contain any fee. Returns true if the fee suffices for the pool, and for being broadcast. */
function checkFee(
  { data, bytes }: SealedTransaction,
  milestone: Milestone,
  policy: FeePolicy,
): { pool: boolean; broadcast: boolean } {
  const key = transactionKey(data.typeGroup, data.type);
  if (!policy.dynamic) {
    const isExact = data.fee === staticFee(data, milestone);
    return { pool: isExact, broadcast: isExact };
  }
  if (key === "htlcClaim" || key === "htlcRefund") return { pool: true, broadcast: true };
  if (key === "entity") {
    const suffices = data.fee >= staticFee(data, milestone);
    return { pool: suffices, broadcast: suffices };
  }
  if (isCertifiedMint(data) && isFreeMint(data.asset, milestone)) return { pool: true, broadcast: true };
  const suffices = (feePerByte: number) =>
    data.fee >= minimumFee(bytes.length, policy.addonBytes[key] ?? 0, feePerByte);
  return { pool: suffices(policy.minFeePool), broadcast: suffices(policy.minFeeBroadcast) };
}

/** Certified mints are free from V3 on, mints of individuals from V2 on. */
function isFreeMint(asset: SealedTransaction["data"]["asset"], milestone: Milestone): boolean {
  if (milestone.unsTokenEcoV3) return true;
  const [token] = Object.values(asset?.nft ?? {});
  return milestone.unsTokenEcoV2 === true && typeFromText(token?.properties?.type) === INDIVIDUAL;
}

/**
 * Step 13.
 *
 * @throws {Refusal}
 */
export function requireFee(transaction: SealedTransaction, milestone: Milestone, policy: FeePolicy) {
  const fee = checkFee(transaction, milestone, policy);
  if (fee.pool || fee.broadcast) return fee;
  throw new Refusal("ERR_LOW_FEE", "The fee is too low to broadcast and accept the transaction");
}
