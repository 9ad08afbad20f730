/** The pool of pending transactions (pool.md). */
import type { StateReader } from "@uniknode/ledger";
import { compileSchemas, type Network, type SealedTransaction } from "@uniknode/protocol";
import type { AdmissionResult } from "../gateway/gateway.ts";
import { createTimeSlices } from "../platform/threads/time-slices.ts";
import type { PoolStore } from "../store/node/pool.ts";
import type { RecordedSignatures } from "../verification/wallet-signatures.ts";
import { createAdmissionBudget, SLICE_MS } from "./admission/budget.ts";
import { createRecentIds } from "./admission/recent-ids.ts";
import { createSubmissions, type SubmitOptions } from "./admission/submissions.ts";
import type { Verify } from "./admission/verify.ts";
import { createContents } from "./contents/contents.ts";
import { expirationHeight, isExpiredInNextBlock } from "./contents/expiration.ts";
import { createJournal, type Journal } from "./contents/journal.ts";
import { createPending } from "./contents/pending.ts";
import { createSenders } from "./contents/senders.ts";
import type { PoolEvent } from "./events.ts";
import { createRefusalCounts, type PoolFigures } from "./figures.ts";
import {
  blockApplied,
  blocksReverted,
  expirationContext,
  type HeadState,
  milestoneAtHead,
  restore,
  transactionContext,
} from "./head-changes.ts";
import type { PoolOptions } from "./options.ts";
import { createRecheck, type RecheckPace } from "./recheck.ts";
import { type BlockLimits, selectTransactions } from "./selection.ts";

export { DEFAULT_POOL_OPTIONS, type PoolOptions } from "./options.ts";

export type PoolDeps = {
  readonly network: Network;
  /** State at the head. */
  readonly state: StateReader;
  /** The last accepted block; timestamp in seconds since the network epoch. */
  readonly head: () => { readonly height: number; readonly timestamp: number };
  /** Network time in seconds. */
  readonly now: () => number;
  /** Returns the ids that are in a stored block. */
  readonly storedIds: (ids: readonly string[]) => ReadonlySet<string>;
  readonly store: PoolStore;
  readonly verify: Verify;
  /** Verdicts about signatures that depend on wallets. */
  readonly signatures: RecordedSignatures;
  /** Returns true while blocks are being processed: submissions then get little time of the thread. */
  readonly isChainBusy?: () => boolean;
  /** Called with each change within the database transaction that makes it durable. */
  readonly emit: (event: PoolEvent) => void;
  /** Called with the error of a failed write, which is retried until it succeeds. */
  readonly onWriteFailed?: (error: unknown) => void;
  /** Called with the error of a failed recheck, which is repeated after the next block. */
  readonly onRecheckFailed?: (error: unknown) => void;
  readonly recheckPace?: RecheckPace;
};

export type Pool = {
  /**
   * Admits the valid transactions of a request; settles when they are on disk. Requests with a common sender enter in
   * the order of the calls.
   *
   * @param options.isBatch true if all inputs must match the batch schema
   * @throws {CodedError} POOL_CLOSED or POOL_BUSY
   * @throws {BatchError}
   * @throws {CallError} when signatures get no verdict in time; the same request may be sent again
   */
  submit(inputs: readonly unknown[], options?: SubmitOptions): Promise<AdmissionResult>;
  size(): number;
  figures(): PoolFigures;
  get(id: string): SealedTransaction | undefined;
  /** Returns the transactions in forging order, at least `limit` if there are as many. */
  inForgingOrder(limit?: number): SealedTransaction[];
  /**
   * Returns the transactions for the next block, in order. Transactions that no longer apply are removed from
   * the pool (pool.md 9).
   */
  select(limits: BlockLimits): SealedTransaction[];
  /**
   * Like `select`, while blocks are being replaced: selects from their transactions, then from the pending
   * ones. Removes nothing, because the new blocks may be discarded.
   *
   * @param leftOut ids of transactions that are not selected, nor are transactions that depend on them
   */
  selectWith(
    returned: readonly SealedTransaction[],
    limits: BlockLimits,
    leftOut: ReadonlySet<string>,
  ): SealedTransaction[];
  /**
   * Updates the pool after a block was committed; `addresses` are the wallets that it changed. The state may
   * be that of a later block. The senders of many pending transactions are checked again in later ticks of the event
   * loop: until then, their transactions are not selected, and no transaction is admitted.
   */
  blockApplied(transactions: readonly SealedTransaction[], addresses: ReadonlySet<string>): void;
  /** Like `blockApplied`, after blocks were reverted; their transactions, oldest first, are pending again before the others. */
  blocksReverted(transactions: readonly SealedTransaction[]): void;
  /** Removes all pending transactions. */
  clear(): void;
  /** Writes the outstanding changes, synchronously. No transaction is admitted afterwards. */
  close(): Promise<void>;
};

/** Bytes for pending transactions; an ordinary one has about 250. */
const MIN_BYTES = 64 * 1024 * 1024;
const BYTES_PER_TRANSACTION = 1024;

/** Delay after the start, so that it does not slow the start. */
const COMPILE_AFTER_MS = 2_000;

/** Few pending transactions are checked again at once. */
const RECHECK_PACE: RecheckPace = { minSteps: 64, sliceMs: SLICE_MS };

/** Candidates for a block, as a multiple of its maximum of transactions. */
const SELECTION_FACTOR = 10;

/** Opens the pool with the stored pending transactions. */
export function createPool(options: PoolOptions, deps: PoolDeps): Pool {
  const { network, head } = deps;
  const current = assemble(options, deps);
  const { pending, senders, contents, journal, recheck } = current;
  const recentIds = createRecentIds();
  const refusals = createRefusalCounts();
  const budget = createAdmissionBudget({
    slotMs: () => network.milestoneAt(head().height).blocktime * 1_000,
    isChainBusy: deps.isChainBusy ?? (() => false),
  });
  const slices = createTimeSlices({
    sliceMs: SLICE_MS,
    pauseMs: budget.pauseMs,
    isHeld: recheck.isRunning,
    onSlice: budget.spend,
  });
  const submissions = createSubmissions(options, {
    ...deps,
    ...{ slices, pending, senders, contents, journal, recentIds, refusals },
  });
  restore(current, deps.store, journal);
  // Nothing at the start waits for it.
  const compiling = setTimeout(() => void slices.run(compileSchemas()), COMPILE_AFTER_MS).unref();
  return {
    submit: submissions.submit,
    size: pending.size,
    figures: () => ({
      poolBytes: pending.byteLength(),
      admission: budget.figures(),
      poolWaiting: submissions.waiting(),
      poolRefused: refusals.read(),
      ...recheck.figures(),
    }),
    get: pending.get,
    inForgingOrder: pending.inForgingOrder,
    select: (limits) => select(current, limits),
    selectWith: (returned, limits, leftOut) => selectWith(current, returned, limits, leftOut),
    blockApplied(transactions, addresses) {
      recentIds.clear();
      blockApplied(current, transactions, addresses);
    },
    blocksReverted(transactions) {
      recentIds.clear();
      blocksReverted(current, transactions);
    },
    clear() {
      recentIds.clear();
      recheck.clear();
      contents.clear();
    },
    close() {
      clearTimeout(compiling);
      submissions.close();
      recheck.close();
      return journal.flush();
    },
  };
}

function assemble(options: PoolOptions, deps: PoolDeps): HeadState & { readonly journal: Journal } {
  const { recheckPace = RECHECK_PACE, onRecheckFailed = () => {} } = deps;
  const pending = createPending();
  const senders = createSenders(deps);
  const journal = createJournal(deps);
  const contents = createContents(boundsOf(options), { pending, senders, journal });
  const recheck = createRecheck(recheckPace, {
    ...{ pending, senders, contents, journal, trial: deps, storedIds: deps.storedIds },
    context: () => transactionContext(deps),
    expirationContext: () => expirationContext({ options, deps }),
    onFailed: onRecheckFailed,
  });
  return { options, deps, pending, senders, journal, contents, recheck, milestone: milestoneAtHead(deps) };
}

const boundsOf = ({ poolSize }: PoolOptions) => ({
  maxTransactions: poolSize,
  maxBytes: Math.max(MIN_BYTES, poolSize * BYTES_PER_TRANSACTION),
});

/** Removes the transactions that no longer apply. Whether a dependent still applies is found by a recheck. */
function select(current: HeadState, limits: BlockLimits): SealedTransaction[] {
  const { contents, recheck } = current;
  const { selected, failed } = choose(current, candidates(current, limits), limits);
  for (const transaction of failed) {
    if (!contents.isDependent(transaction.data.id)) contents.remove(transaction, "transaction.pool.removed");
  }
  recheck.mark(failed.map(({ data }) => data.senderPublicKey));
  recheck.run();
  return selected;
}

function selectWith(
  current: HeadState,
  returned: readonly SealedTransaction[],
  limits: BlockLimits,
  leftOut: ReadonlySet<string>,
): SealedTransaction[] {
  const offered = [...returned, ...candidates(current, limits)].filter(({ data }) => !leftOut.has(data.id));
  return choose(current, offered, limits).selected;
}

function* candidates(
  { pending, contents, recheck }: HeadState,
  { maxTransactions }: BlockLimits,
): Iterable<SealedTransaction> {
  const limit = maxTransactions * SELECTION_FACTOR;
  const line = contents.line();
  for (const transaction of line.slice(0, limit)) {
    if (!recheck.isWaiting(transaction.data.senderPublicKey)) yield transaction;
  }
  const isInLine = new Set(line);
  for (const transaction of pending.candidates(limit, recheck.isWaiting)) {
    if (!isInLine.has(transaction)) yield transaction;
  }
}

function choose(current: HeadState, offered: Iterable<SealedTransaction>, limits: BlockLimits) {
  const context = expirationContext(current);
  const isTooLate = ({ data }: SealedTransaction) =>
    isExpiredInNextBlock(expirationHeight(data, context), context.currentHeight);
  return selectTransactions(offered, limits, { ...current.deps, isTooLate });
}
