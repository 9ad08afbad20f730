/**
 * The pool of pending transactions (pool.md). Submissions pass three functions: `parse`, `verifySignatures` (in other
 * threads) and `admit`. The work of the consensus thread is done in time slices, a transaction at a time, so that no
 * request delays anything else. What a change of the chain invalidates is found by a recheck of the senders that it
 * concerns.
 */
import {
  compileSchemas,
  type Milestone,
  type SealedTransaction,
  sealedFromTrustedBytes,
} from "@uniknode/protocol";
import type { AdmissionTime } from "../gateway/figures.ts";
import type { AdmissionResult } from "../gateway/gateway.ts";
import { type Steps, TimeSlices } from "../platform/threads/time-slices.ts";
import type { PoolStore } from "../store/node/pool.ts";
import { admit, verifySignatures } from "./admission/admit.ts";
import { parse } from "./admission/parse.ts";
import {
  AdmissionBudget,
  busy,
  closed,
  failUnstored,
  RecentIds,
  RefusalCounts,
  SenderOrder,
  SLICE_MS,
} from "./admission/requests.ts";
import type { AdmissionDeps } from "./admission/rules.ts";
import { Contents } from "./contents/contents.ts";
import { Journal } from "./contents/journal.ts";
import { type ExpirationContext, Pending } from "./contents/pending.ts";
import { Senders } from "./contents/senders.ts";
import type { PoolEvent } from "./events.ts";
import type { PoolOptions } from "./pool-options.ts";
import { Recheck, type RecheckFigures, type RecheckPace } from "./recheck.ts";
import { type BlockLimits, blockLimits, candidates, selectTransactions } from "./selection.ts";

export type PoolDeps = Pick<
  AdmissionDeps,
  "network" | "state" | "signatures" | "head" | "now" | "storedIds" | "verify"
> & {
  readonly store: PoolStore;
  /** Returns true while blocks are being processed: submissions then get little time of the thread. */
  readonly isChainBusy?: () => boolean;
  /** Called with each change within the database transaction that makes it durable. */
  readonly emit: (event: PoolEvent) => void;
  /** Returns true if `emit` adds events of this name to the log. Absent: it adds none. */
  readonly isLogged?: (name: PoolEvent["name"]) => boolean;
  /** Called with the error of a failed write, which is retried until it succeeds. */
  readonly onWriteFailed?: (error: unknown) => void;
  /** Called with the error of a failed recheck, which is repeated after the next block. */
  readonly onRecheckFailed?: (error: unknown) => void;
  readonly recheckPace?: RecheckPace;
};

export type PoolFigures = RecheckFigures & {
  /** Bytes of the pending transactions. */
  readonly poolBytes: number;
  /** Transactions whose admission is in progress. */
  readonly poolWaiting: number;
  /** Time of the consensus thread for submissions. */
  readonly admission: AdmissionTime;
  readonly poolRefused: ReturnType<RefusalCounts["read"]>;
};

/** Bytes for pending transactions; an ordinary one has about 250. */
const MIN_BYTES = 64 * 1024 * 1024;
const BYTES_PER_TRANSACTION = 1024;

/** Transactions of requests that are in progress; a single request may have more. */
const MAX_WAITING = 10_000;

/** Delay after the start, so that it does not slow the start. */
const COMPILE_AFTER_MS = 2_000;

/** Few pending transactions are checked again at once. */
const RECHECK_PACE: RecheckPace = { minSteps: 64, sliceMs: SLICE_MS };

export class Pool {
  readonly #options: PoolOptions;
  readonly #deps: PoolDeps;
  readonly #pending = new Pending();
  readonly #senders: Senders;
  readonly #journal: Journal;
  readonly #contents: Contents;
  readonly #recheck: Recheck;
  readonly #budget: AdmissionBudget;
  readonly #slices: TimeSlices;
  readonly #recentIds = new RecentIds();
  readonly #senderOrder = new SenderOrder();
  readonly #refusals = new RefusalCounts();
  readonly #admission: AdmissionDeps;
  readonly #compiling: NodeJS.Timeout;
  /** The milestone under which every pending transaction was read, or waits to be read. */
  #milestone: Milestone;
  /** Transactions whose admission is in progress. */
  #waiting = 0;
  #isClosed = false;

  /** Opens the pool with the stored pending transactions. */
  constructor(options: PoolOptions, deps: PoolDeps) {
    const { network, head, isChainBusy = () => false, onRecheckFailed = () => {} } = deps;
    const { poolSize: maxTransactions } = options;
    this.#options = options;
    this.#deps = deps;
    this.#milestone = network.milestoneAt(head().height);
    this.#senders = new Senders(deps);
    this.#journal = new Journal(deps);
    const parts = { pending: this.#pending, senders: this.#senders, journal: this.#journal };
    const maxBytes = Math.max(MIN_BYTES, maxTransactions * BYTES_PER_TRANSACTION);
    this.#contents = new Contents({ maxTransactions, maxBytes }, parts);
    this.#recheck = new Recheck(deps.recheckPace ?? RECHECK_PACE, {
      ...parts,
      contents: this.#contents,
      trial: deps,
      storedIds: deps.storedIds,
      context: () => ({ network, height: head().height }),
      expirationContext: () => this.#expirationContext(),
      onFailed: onRecheckFailed,
    });
    const slotMs = () => network.milestoneAt(head().height).blocktime * 1_000;
    this.#budget = new AdmissionBudget({ slotMs, isChainBusy });
    this.#slices = new TimeSlices({
      sliceMs: SLICE_MS,
      pace: this.#budget,
      isHeld: () => this.#recheck.isRunning(),
    });
    const requests = { recentIds: this.#recentIds, refusals: this.#refusals };
    this.#admission = { ...deps, ...parts, ...requests, contents: this.#contents };
    this.#restore();
    // Nothing at the start waits for it.
    this.#compiling = setTimeout(() => void this.#slices.run(compileSchemas()), COMPILE_AFTER_MS).unref();
  }

  /**
   * Admits the valid transactions of a request; settles when the database has them: the end of the process loses none, a
   * power failure can. Requests with a common sender enter in the order of the calls.
   *
   * @param options.isBatch true if all inputs must match the batch schema
   * @throws {CodedError} POOL_CLOSED or POOL_BUSY
   * @throws {BatchError}
   * @throws {CallError} when signatures get no verdict in time; the same request may be sent again
   */
  async submit(
    inputs: readonly unknown[],
    { isBatch = false }: { readonly isBatch?: boolean } = {},
  ): Promise<AdmissionResult> {
    if (this.#waiting > 0 && this.#waiting + inputs.length > MAX_WAITING) {
      this.#refusals.count("POOL_BUSY", inputs.length);
      throw busy();
    }
    this.#waiting += inputs.length;
    try {
      const result = await this.#admit(inputs, isBatch);
      if (result.data.accept.length > 0) await this.#journal.flushed().catch(failUnstored);
      return result;
    } finally {
      this.#waiting -= inputs.length;
    }
  }

  async #admit(inputs: readonly unknown[], isBatch: boolean): Promise<AdmissionResult> {
    const request = await this.#slices.run(parse(inputs, isBatch, this.#options, this.#admission));
    const senders = new Set(request.fresh.map(({ senderPublicKey }) => senderPublicKey));
    const place = this.#senderOrder.enter(senders);
    try {
      const verdicts = await verifySignatures(request.parsedCandidates, this.#deps);
      await place.isNext;
      const steps = admit(request, verdicts, this.#options, this.#admission);
      const admitted = this.#slices.run(this.#whileOpen(steps));
      // Slices run in the order of the calls.
      place.leave();
      return await admitted;
    } catch (error) {
      // Nothing was decided: the client may send them again.
      this.#recentIds.forget(request.fresh.map(({ id }) => id));
      throw error;
    } finally {
      place.leave();
    }
  }

  /** Runs steps until the pool is closed: later changes would not be written. */
  *#whileOpen<T>(steps: Steps<T>): Steps<T> {
    for (;;) {
      if (this.#isClosed) throw closed();
      const { done, value } = steps.next();
      if (done) return value;
      yield;
    }
  }

  size(): number {
    return this.#pending.size();
  }

  get(id: string): SealedTransaction | undefined {
    return this.#pending.get(id);
  }

  /** Returns the transactions in forging order, at least `limit` if there are as many. */
  inForgingOrder(limit?: number): SealedTransaction[] {
    return this.#pending.inForgingOrder(limit);
  }

  figures(): PoolFigures {
    return {
      poolBytes: this.#pending.byteLength(),
      admission: this.#budget.figures(),
      poolWaiting: this.#waiting,
      poolRefused: this.#refusals.read(),
      ...this.#recheck.figures(),
    };
  }

  /**
   * Returns the transactions for the next block, in order. Transactions that no longer apply are removed from the pool
   * (pool.md 9). Whether a dependent still applies is found by a recheck.
   */
  select(limits: BlockLimits = this.#nextLimits()): SealedTransaction[] {
    const { selected, failed } = this.#choose(this.#candidates(limits), limits);
    for (const transaction of failed) {
      const isDependent = this.#contents.isDependent(transaction.data.id);
      if (!isDependent) this.#contents.remove(transaction, "transaction.pool.removed");
    }
    this.#recheck.mark(sendersOf(failed));
    this.#recheck.run();
    return selected;
  }

  /**
   * Does the same as `select` while blocks are being replaced: selects from their transactions, then from the pending
   * ones. Removes nothing, because the new blocks may be discarded.
   *
   * @param leftOut ids of transactions that are not selected, nor are transactions that depend on them
   */
  selectWith(
    returned: readonly SealedTransaction[],
    leftOut: ReadonlySet<string>,
    limits: BlockLimits = this.#nextLimits(),
  ): SealedTransaction[] {
    const offered = [...returned, ...this.#candidates(limits)].filter(({ data }) => !leftOut.has(data.id));
    return this.#choose(offered, limits).selected;
  }

  #nextLimits(): BlockLimits {
    const { network, head } = this.#deps;
    const { height } = head();
    // The block is read under the rules at the head, and judged under its own.
    return blockLimits(network.milestoneAt(height), network.milestoneAt(height + 1));
  }

  #choose(offered: Iterable<SealedTransaction>, limits: BlockLimits) {
    return selectTransactions(offered, limits, { ...this.#deps, expiration: this.#expirationContext() });
  }

  #candidates(limits: BlockLimits): Iterable<SealedTransaction> {
    const isLeftOut = (sender: string) => this.#recheck.isWaiting(sender);
    return candidates(this.#pending, this.#contents.line(), limits, isLeftOut);
  }

  /**
   * Updates the pool after a block was committed; `addresses` are the wallets that it changed. The state may
   * be that of a later block. The senders of many pending transactions are checked again in later ticks of the event
   * loop: until then, their transactions are not selected, and no transaction is admitted.
   */
  blockApplied(transactions: readonly SealedTransaction[], addresses: ReadonlySet<string>): void {
    this.#recentIds.clear();
    const included = transactions.flatMap(({ data }) => this.#pending.get(data.id) ?? []);
    const changed = [...addresses].flatMap((address) => this.#senders.publicKeyOf(address) ?? []);
    for (const transaction of included) this.#contents.removeIncluded(transaction);
    this.#recheck.mark([...changed, ...sendersOf(included), ...this.#contents.dependentSenders()]);
    this.#markByHeadRules();
    this.#recheck.run();
  }

  /** Does the same as `blockApplied` after blocks were reverted; their transactions, oldest first, are pending again before the others. */
  blocksReverted(transactions: readonly SealedTransaction[]): void {
    this.#recentIds.clear();
    this.#contents.addReturned(transactions);
    this.#recheck.mark([...sendersOf(transactions), ...this.#pending.senders()]);
    this.#markByHeadRules();
    this.#recheck.run();
  }

  /** Fills the pool with the stored transactions that are still valid, and removes the others from disk. */
  #restore(): void {
    const rows = this.#deps.store.load();
    const forged = this.#deps.storedIds(rows.map(({ id }) => id));
    const stored: SealedTransaction[] = [];
    for (const { id, bytes } of rows) {
      const transaction = readUnchecked(id, bytes);
      if (transaction && !forged.has(id)) {
        stored.push(transaction);
        continue;
      }
      this.#journal.removed(id);
      if (transaction) this.#contents.reportRemoval(transaction, "transaction.pool.removed");
    }
    this.#contents.addStored(stored);
    this.#recheck.mark(this.#pending.senders());
    this.#markByHeadRules();
    this.#recheck.finish();
    this.#journal.flush();
  }

  /** Marks the senders of transactions that the height expires, and all senders if the milestone is another one. */
  #markByHeadRules(): void {
    const { network, head } = this.#deps;
    this.#recheck.mark(sendersOf(this.#pending.expired(this.#expirationContext())));
    const milestone = network.milestoneAt(head().height);
    if (milestone === this.#milestone) return;
    this.#milestone = milestone;
    this.#recheck.mark(this.#pending.senders(), true);
  }

  #expirationContext(): ExpirationContext {
    const { network, head, now } = this.#deps;
    return {
      blockTime: network.milestoneAt(1).blocktime,
      currentHeight: head().height,
      now: now(),
      maxTransactionAge: this.#options.maxTransactionAge,
    };
  }

  /** Removes all pending transactions. */
  clear(): void {
    this.#recentIds.clear();
    this.#recheck.clear();
    this.#contents.clear();
  }

  /** Writes the outstanding changes, synchronously. No transaction is admitted afterwards. */
  close(): Promise<void> {
    clearTimeout(this.#compiling);
    this.#isClosed = true;
    this.#recheck.close();
    return this.#journal.close();
  }
}

const sendersOf = (transactions: readonly SealedTransaction[]): string[] =>
  transactions.map(({ data }) => data.senderPublicKey);

/** The transaction without a check of the milestone; undefined if the bytes are another one, or none. */
function readUnchecked(id: string, bytes: Uint8Array): SealedTransaction | undefined {
  try {
    const transaction = sealedFromTrustedBytes(bytes);
    return transaction.data.id === id ? transaction : undefined;
  } catch {
    return undefined;
  }
}
