/**
 * Submissions to the pool pass three functions: `parse`, `verifySignatures` (in other threads) and `admit`. The work of
 * the consensus thread is done in time slices, a transaction at a time, so that no request delays anything else.
 */

import type { BatchOptions, SealedTransaction } from "@uniknode/protocol";
import type { AdmissionResult } from "../../gateway/gateway.ts";
import { CodedError } from "../../platform/coded-error.ts";
import type { Steps, TimeSlices } from "../../platform/threads/time-slices.ts";
import type { Contents } from "../contents/contents.ts";
import type { Journal } from "../contents/journal.ts";
import type { Rejected } from "../events.ts";
import type { RefusalCounts } from "../figures.ts";
import {
  type AdmissionOptions,
  type CheckResult,
  judgeCandidates,
  type ParsedRequest,
  parseCandidates,
} from "./admission.ts";
import { checkBatch } from "./batch.ts";
import { type Candidate, candidateFrom } from "./candidate.ts";
import type { AdmissionDeps } from "./precheck.ts";
import type { RecentIds } from "./recent-ids.ts";
import { toAdmissionResult } from "./result.ts";
import { createSenderOrder } from "./sender-order.ts";
import { type SignatureDeps, verifySignatures } from "./signatures.ts";

export type SubmissionDeps = AdmissionDeps &
  SignatureDeps & {
    readonly slices: TimeSlices;
    readonly contents: Contents;
    readonly journal: Journal;
    readonly recentIds: RecentIds;
    readonly refusals: RefusalCounts;
  };

export type Submissions = {
  /** See `Pool.submit`. */
  submit(inputs: readonly unknown[], batch?: BatchOptions): Promise<AdmissionResult>;
  /** Transactions whose admission is in progress. */
  waiting(): number;
  /** Refuses new submissions and the ones in progress. */
  close(): void;
};

/** Transactions of requests that are in progress; a single request may have more. */
const MAX_WAITING = 10_000;

export function createSubmissions(options: AdmissionOptions, deps: SubmissionDeps): Submissions {
  const { slices, journal, refusals, recentIds } = deps;
  const order = createSenderOrder();
  let waiting = 0;
  let isClosed = false;

  async function submit(inputs: readonly unknown[], batch?: BatchOptions): Promise<AdmissionResult> {
    if (waiting > 0 && waiting + inputs.length > MAX_WAITING) {
      refusals.count("POOL_BUSY", inputs.length);
      throw busy();
    }
    waiting += inputs.length;
    try {
      const result = await process(inputs, batch);
      if (result.data.accept.length > 0) await journal.flushed();
      return result;
    } finally {
      waiting -= inputs.length;
    }
  }

  async function process(inputs: readonly unknown[], batch?: BatchOptions): Promise<AdmissionResult> {
    const request = await slices.run(parse(inputs, batch, options, deps));
    const place = order.enter(new Set(request.fresh.map(({ senderPublicKey }) => senderPublicKey)));
    try {
      const verdicts = await verifySignatures(request.parsed.parsedCandidates, deps);
      await place.isNext;
      if (isClosed) throw closed();
      const admitted = slices.run(admit(request, verdicts, options, deps));
      // Slices run in the order of the calls.
      place.leave();
      return await admitted;
    } catch (error) {
      // Nothing was decided: the client may send them again.
      recentIds.forget(request.fresh.map(({ id }) => id));
      throw error;
    } finally {
      place.leave();
    }
  }

  return {
    submit,
    waiting: () => waiting,
    close() {
      isClosed = true;
    },
  };
}

/** A request between `parse` and `admit`, while other threads verify its signatures. */
type ParsedSubmission = {
  /** Candidates whose id was not seen since the last block, and the others. */
  readonly fresh: readonly Candidate[];
  readonly repeated: readonly Candidate[];
  readonly parsed: ParsedRequest;
};

/** First step: the batch schema, stage A, and stage B up to the signatures. */
function* parse(
  inputs: readonly unknown[],
  batch: BatchOptions | undefined,
  options: AdmissionOptions,
  deps: SubmissionDeps,
): Steps<ParsedSubmission> {
  const { network, head, recentIds } = deps;
  if (batch) yield* checkBatch(inputs, { network, height: head().height }, batch);
  // Stage A: ids seen since the last block, whatever their outcome
  const [fresh, repeated] = recentIds.partition(inputs.map(candidateFrom), ({ id }) => id);
  return { fresh, repeated, parsed: yield* parseCandidates(fresh, options, deps) };
}

/** Last step: the rest of stage B, then stages C and D. */
function* admit(
  { repeated, parsed }: ParsedSubmission,
  verdicts: readonly boolean[],
  options: AdmissionOptions,
  deps: SubmissionDeps,
): Steps<AdmissionResult> {
  const result = yield* judgeCandidates(parsed, verdicts, options, deps);
  const { broadcast, excess, refused } = result;
  const { forged, added, rejected } = yield* insertNew(result, deps);
  // Transactions that do not fit into this pool may fit into others.
  const isUnfit = new Set(rejected.filter(({ code }) => code !== "ERR_POOL_FULL").map((r) => r.transaction));
  const allRefused = [
    ...repeated.map(({ id }) => ({ id, code: "ERR_DUPLICATE" as const, message: "Already in cache." })),
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

type Inserted = {
  readonly forged: ReadonlySet<string>;
  readonly added: readonly SealedTransaction[];
  readonly rejected: readonly Rejected[];
};

/** Stages C and D; a transaction in each step. */
function* insertNew(
  { accept, broadcast }: CheckResult,
  { storedIds, contents, journal }: SubmissionDeps,
): Steps<Inserted> {
  // Stage C
  const forged = storedIds([...new Set([...accept, ...broadcast].map(({ data }) => data.id))]);
  // Stage D
  const added: SealedTransaction[] = [];
  const rejected: Rejected[] = [];
  const evicted: SealedTransaction[] = [];
  // The request is one event, written together with its transactions.
  journal.hold(() => {
    if (added.length > 0) journal.report({ name: "transaction.pool.added", transactions: added });
    if (rejected.length > 0) journal.report({ name: "transaction.pool.rejected", rejected });
    for (const transaction of evicted) contents.reportRemoval(transaction, "transaction.pool.removed");
  });
  try {
    for (const transaction of accept) {
      if (forged.has(transaction.data.id)) continue;
      const insertion = contents.insert(transaction);
      if (insertion.isAdded) added.push(transaction);
      else rejected.push({ transaction, code: insertion.code, message: insertion.message });
      if (insertion.isAdded && insertion.evicted) evicted.push(insertion.evicted);
      yield;
    }
  } finally {
    journal.release();
  }
  return { forged, added, rejected };
}

const closed = () => new CodedError("POOL_CLOSED", "the pool was closed", { isRetryable: false });

/** The maximum of transactions is being checked. */
const busy = () =>
  new CodedError("POOL_BUSY", "too many transactions are being checked; retry in a moment", {
    isRetryable: true,
  });
