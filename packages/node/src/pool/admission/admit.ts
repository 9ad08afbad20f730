/** The second half of an admission: signatures of parsed transactions, in other threads, and what follows (pool.md 4). */
import { isVerifiedIn } from "@uniknode/ledger";
import type { SealedTransaction } from "@uniknode/protocol";
import type { AdmissionResult } from "../../gateway/gateway.ts";
import { CallError } from "../../platform/threads/call.ts";
import type { Steps } from "../../platform/threads/time-slices.ts";
import { schemeOf } from "../../verification/packed-checks.ts";
import { isRefusal } from "../contents/senders.ts";
import { Refusal, type Rejected } from "../events.ts";
import type { PoolOptions } from "../pool-options.ts";
import { type CheckResult, runChecks, toAdmissionResult } from "./candidate.ts";
import {
  NOT_VERIFIED,
  type ParsedCandidate,
  type ParsedRequest,
  requireFee,
  sealCandidate,
} from "./parse.ts";
import { type AdmissionDeps, checkRules, milestoneOf } from "./rules.ts";

/** A caller waits longer for its response. */
const TIMEOUT_MS = 5_000;

/**
 * Returns whether the sender's own signature of each transaction is valid, in their order. The verdicts that depend on
 * wallets are recorded.
 *
 * @throws {CallError} when the verifier gives no verdicts in time
 */
export async function verifySignatures(
  parsed: readonly ParsedCandidate[],
  deps: Pick<AdmissionDeps, "verify" | "signatures" | "state">,
): Promise<boolean[]> {
  const transactions = parsed.map(({ transaction }) => transaction);
  const [verdicts] = await withTimeout(
    Promise.all([verifyOwn(parsed, deps.verify), deps.signatures.verifyAhead(transactions, deps.state)]),
  );
  return verdicts;
}

async function verifyOwn(
  parsed: readonly ParsedCandidate[],
  verify: AdmissionDeps["verify"],
): Promise<boolean[]> {
  const checks = parsed.flatMap(({ job }) =>
    typeof job === "boolean" ? [] : [{ ...job, scheme: schemeOf(job) }],
  );
  const given = (checks.length > 0 ? await verify(checks) : []).values();
  return parsed.map(({ job }) => (typeof job === "boolean" ? job : given.next().value === true));
}

async function withTimeout<T>(work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new CallError("CALL_TIMEOUT", `signature verification timed out after ${TIMEOUT_MS} ms`)),
    TIMEOUT_MS,
  );
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Last function of an admission: the rest of stage B, then stages C and D.
 *
 * @param verdicts about the own signature of each parsed candidate
 */
export function* admit(
  request: ParsedRequest,
  verdicts: readonly boolean[],
  options: PoolOptions,
  deps: AdmissionDeps,
): Steps<AdmissionResult> {
  const result = yield* checkVerified(request, verdicts, options, deps);
  const { broadcast, excess, refused } = result;
  const { forged, added, rejected } = yield* insert(result, deps);
  // Transactions that do not fit into this pool may fit into others.
  const isUnfit = new Set(rejected.filter(({ code }) => code !== "ERR_POOL_FULL").map((r) => r.transaction));
  const allRefused = [
    ...Array.from(request.repeated, (id) => ({
      id,
      code: "ERR_DUPLICATE" as const,
      message: "Already in cache.",
    })),
    ...refused,
    ...Array.from(forged, (id) => ({ id, code: "ERR_FORGED" as const, message: "Already forged." })),
    ...rejected.map(({ transaction, ...reason }) => ({ id: transaction.data.id, ...reason })),
  ];
  for (const { code } of allRefused) deps.refusals.count(code);
  deps.refusals.count("excess", excess.length);
  return toAdmissionResult({
    accept: added,
    broadcast: broadcast.filter(
      (transaction) => !forged.has(transaction.data.id) && !isUnfit.has(transaction),
    ),
    excess,
    refused: allRefused,
  });
}

/**
 * Steps 12 and 13; a candidate in each step. Requests and blocks may have been processed since `parse`, so the
 * checks that depend on the pool and the chain are repeated.
 */
function* checkVerified(
  { milestone, fresh, parsedCandidates, result }: ParsedRequest,
  verdicts: readonly boolean[],
  options: PoolOptions,
  deps: AdmissionDeps,
): Steps<CheckResult> {
  const listed = new Set<string>();
  for (const [index, { candidate, ...parsed }] of parsedCandidates.entries()) {
    runChecks(candidate, result, () => {
      checkRules(candidate, fresh, options, deps);
      const current = milestoneOf(deps);
      const { transaction } = current === milestone ? parsed : sealCandidate(candidate, deps);
      const sealed = { ...transaction, isVerified: verdicts[index] === true };
      checkSignatures(sealed, deps);
      const fee = requireFee(sealed, current, options.fees);
      // A request may contain a transaction twice: its ids are listed once.
      if (listed.has(sealed.data.id)) return;
      listed.add(sealed.data.id);
      if (fee.pool) result.accept.push(sealed);
      if (fee.broadcast) result.broadcast.push(sealed);
    });
    yield;
  }
  return result;
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

type Inserted = {
  readonly forged: ReadonlySet<string>;
  readonly added: readonly SealedTransaction[];
  readonly rejected: readonly Rejected[];
};

/** Stages C and D; a transaction in each step. */
function* insert({ accept, broadcast }: CheckResult, deps: AdmissionDeps): Steps<Inserted> {
  const { storedIds, contents, journal } = deps;
  // Stage C
  const forged = storedIds([...new Set([...accept, ...broadcast].map(({ data }) => data.id))]);
  // Stage D
  const added: SealedTransaction[] = [];
  const rejected: Rejected[] = [];
  let unreported = nothingInserted();
  // The request is one event, written together with its transactions. A recheck in between makes it two events.
  const report = () => {
    reportInserted(unreported, deps);
    unreported = nothingInserted();
  };
  try {
    for (const transaction of accept) {
      if (forged.has(transaction.data.id)) continue;
      journal.hold(report);
      const insertion = contents.insert(transaction);
      if (insertion.isAdded) {
        added.push(transaction);
        unreported.added.push(transaction);
        if (insertion.evicted) unreported.evicted.push(insertion.evicted);
      } else {
        const refusal = { transaction, code: insertion.code, message: insertion.message };
        rejected.push(refusal);
        unreported.rejected.push(refusal);
      }
      yield;
    }
  } finally {
    journal.release();
  }
  return { forged, added, rejected };
}

type Unreported = {
  readonly added: SealedTransaction[];
  readonly rejected: Rejected[];
  readonly evicted: SealedTransaction[];
};

const nothingInserted = (): Unreported => ({ added: [], rejected: [], evicted: [] });

function reportInserted(
  { added, rejected, evicted }: Unreported,
  { contents, journal }: AdmissionDeps,
): void {
  if (added.length > 0) journal.report({ name: "transaction.pool.added", transactions: added });
  if (rejected.length > 0) journal.report({ name: "transaction.pool.rejected", rejected });
  for (const transaction of evicted) contents.reportRemoval(transaction, "transaction.pool.removed");
}
