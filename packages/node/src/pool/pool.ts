/** The pool of pending transactions (pool.md). */
import type { StateReader } from "@uniknode/ledger";
import type { Network, SealedTransaction } from "@uniknode/protocol";
import type { AdmissionAnswer } from "../gateway/gateway.ts";
import type { PoolStore } from "../store/node/pool.ts";
import { finishAdmission, type StartedAdmission, startAdmission } from "./admission/admission.ts";
import { toAdmissionAnswer } from "./admission/answer.ts";
import { type Candidate, candidateFrom } from "./admission/candidate.ts";
import { createRecentIds } from "./admission/recent-ids.ts";
import { type Verify, verifySignatures } from "./admission/signatures.ts";
import type { BlockLimits } from "./block-limits.ts";
import { createContents } from "./contents/contents.ts";
import { createJournal } from "./contents/journal.ts";
import { createPending } from "./contents/pending.ts";
import { createSenders } from "./contents/senders.ts";
import { readAdmitted, readUnchecked } from "./contents/stored.ts";
import { type ExpirationContext, expirationHeight, isExpired, isExpiredInNextBlock } from "./expiration.ts";
import { createRefusalCounts, type PoolFigures } from "./figures.ts";
import type { PoolOptions } from "./options.ts";
import type { PoolEvent, Rejected } from "./pool-event.ts";
import { selectTransactions } from "./selection.ts";

export { DEFAULT_POOL_OPTIONS, type PoolOptions } from "./options.ts";

export type PoolDeps = {
  readonly network: Network;
  /** State at the head. */
  readonly state: StateReader;
  /** The last accepted block; timestamp in seconds since the network epoch. */
  readonly head: () => { readonly height: number; readonly timestamp: number };
  /** Network time in seconds. */
  readonly now: () => number;
  /** Which of these ids are in a stored block. */
  readonly storedIds: (ids: readonly string[]) => ReadonlySet<string>;
  readonly store: PoolStore;
  readonly verify: Verify;
  /** Called with each change within the database transaction that makes it durable. */
  readonly emit: (event: PoolEvent) => void;
  /** Called with the error of a failed write, which is retried until it succeeds. */
  readonly onWriteFailed?: (error: unknown) => void;
};

export type Pool = {
  /**
   * Admits the valid transactions of a request; settles when they are on disk. Requests enter in the order of the calls.
   *
   * @throws {PoolClosedError | PoolBusyError}
   */
  submit(inputs: readonly unknown[]): Promise<AdmissionAnswer>;
  size(): number;
  figures(): PoolFigures;
  get(id: string): SealedTransaction | undefined;
  /** At least `limit` transactions if there are as many. */
  inForgingOrder(limit?: number): SealedTransaction[];
  /** Transactions for the next block, in order; those that no longer apply are removed from the pool (pool.md 9). */
  select(limits: BlockLimits): SealedTransaction[];
  /**
   * The same while blocks are being replaced, from their transactions and then the pending ones. Nothing is removed,
   * since it is not known whether the new blocks stay.
   *
   * @param leftOut ids of transactions that are not selected; those that are valid only after them are not, either
   */
  selectWith(
    returned: readonly SealedTransaction[],
    limits: BlockLimits,
    leftOut: ReadonlySet<string>,
  ): SealedTransaction[];
  /** A block was committed; `addresses` are the wallets that it changed. The state may be that of a later block. */
  blockApplied(transactions: readonly SealedTransaction[], addresses: ReadonlySet<string>): void;
  /** Blocks were reverted; their transactions, oldest first, are pending again before the others. */
  blocksReverted(transactions: readonly SealedTransaction[]): void;
  /** Removes all pending transactions. */
  clear(): void;
  /** Writes what is outstanding, synchronously. No transaction is admitted any more. */
  close(): Promise<void>;
};

/** The pool was closed before the transactions were admitted. */
export class PoolClosedError extends Error {
  readonly code = "POOL_CLOSED";
  readonly isRetryable = false;

  constructor() {
    super("the pool was closed");
    this.name = "PoolClosedError";
  }
}

/** The maximum of transactions is being checked; a retry after a moment may succeed. */
export class PoolBusyError extends Error {
  readonly code = "POOL_BUSY";
  readonly isRetryable = true;

  constructor() {
    super("too many transactions are being examined; send them again in a moment");
    this.name = "PoolBusyError";
  }
}

/** Transactions of requests that are not answered yet; a single request may have more. */
const MAX_WAITING = 10_000;

/** Bytes for pending transactions; an ordinary one has about 250. */
const MIN_BYTES = 64 * 1024 * 1024;
const BYTES_PER_TRANSACTION = 1024;

/** Candidates for a block, as a multiple of its maximum of transactions. */
const SELECTION_FACTOR = 10;
const candidateLimit = ({ maxTransactions }: BlockLimits) => maxTransactions * SELECTION_FACTOR;

/** Opens the pool with the stored pending transactions. */
export function createPool(options: PoolOptions, deps: PoolDeps): Pool {
  const { network, state, head, now } = deps;
  const pending = createPending();
  const senders = createSenders({ network, state, head, minterOf: pending.minterOf });
  const journal = createJournal(deps);
  const { maxTransactions } = options;
  const maxBytes = Math.max(MIN_BYTES, maxTransactions * BYTES_PER_TRANSACTION);
  const contents = createContents({ maxTransactions, maxBytes }, { pending, senders, journal });
  const recentIds = createRecentIds();
  const admissionDeps = { network, state, pending, head, now };
  const transactionContext = () => ({ network, height: head().height });
  const currentMilestone = () => network.milestoneAt(head().height);
  let milestone = currentMilestone();
  const refusals = createRefusalCounts();
  let lastAdmission: Promise<unknown> = Promise.resolve();
  /** Transactions whose admission is in progress. */
  let waiting = 0;
  let isClosed = false;

  async function submit(inputs: readonly unknown[]): Promise<AdmissionAnswer> {
    if (waiting > 0 && waiting + inputs.length > MAX_WAITING) {
      refusals.count("POOL_BUSY", inputs.length);
      throw new PoolBusyError();
    }
    waiting += inputs.length;
    try {
      return await checkAndAdmit(inputs);
    } finally {
      waiting -= inputs.length;
    }
  }

  async function checkAndAdmit(inputs: readonly unknown[]): Promise<AdmissionAnswer> {
    // Stage A: ids seen since the last block, whatever their outcome
    const [fresh, repeated] = recentIds.partition(inputs.map(candidateFrom), ({ id }) => id);
    // Stage B, during which other requests may be checked
    const started = startAdmission(fresh, options, admissionDeps);
    const verifying = verifySignatures(started.parsedCandidates, deps.verify);
    const admission = Promise.all([verifying, lastAdmission]).then(([verdicts]) =>
      admit(repeated, started, verdicts),
    );
    lastAdmission = admission.catch(() => undefined);
    const answer = await admission;
    if (answer.data.accept.length > 0) await journal.flushed();
    return answer;
  }

  function admit(
    repeated: readonly Candidate[],
    started: StartedAdmission,
    verdicts: readonly boolean[],
  ): AdmissionAnswer {
    if (isClosed) throw new PoolClosedError();
    const { accept, broadcast, excess, refused } = finishAdmission(started, verdicts, options, admissionDeps);
    // Stage C
    const checked = new Set([...accept, ...broadcast].map(({ data }) => data.id));
    const forged = deps.storedIds([...checked]);
    const isNew = ({ data }: SealedTransaction) => !forged.has(data.id);
    // Stage D
    const { added, rejected } = insertAll(accept.filter(isNew));
    // What does not fit into this pool may fit into others.
    const isUnfit = new Set(
      rejected.filter(({ code }) => code !== "ERR_POOL_FULL").map((r) => r.transaction),
    );
    const allRefused = [
      ...repeated.map(({ id }) => ({ id, code: "ERR_DUPLICATE" as const, message: "Already in cache." })),
      ...refused,
      ...Array.from(forged, (id) => ({ id, code: "ERR_FORGED" as const, message: "Already forged." })),
      ...rejected.map(({ transaction, ...reason }) => ({ id: transaction.data.id, ...reason })),
    ];
    for (const { code } of allRefused) refusals.count(code);
    refusals.count("excess", excess.length);
    return toAdmissionAnswer({
      accept: added,
      broadcast: broadcast.filter((transaction) => isNew(transaction) && !isUnfit.has(transaction)),
      excess,
      refused: allRefused,
    });
  }

  function insertAll(transactions: readonly SealedTransaction[]) {
    const added: SealedTransaction[] = [];
    const rejected: Rejected[] = [];
    const evicted: SealedTransaction[] = [];
    for (const transaction of transactions) {
      const insertion = contents.insert(transaction);
      if (insertion.isAdded) added.push(transaction);
      else rejected.push({ transaction, code: insertion.code, message: insertion.message });
      if (insertion.isAdded && insertion.evicted) evicted.push(insertion.evicted);
    }
    if (added.length > 0) journal.report({ name: "transaction.pool.added", transactions: added });
    if (rejected.length > 0) journal.report({ name: "transaction.pool.rejected", rejected });
    for (const transaction of evicted) contents.reportRemoval(transaction, "transaction.pool.removed");
    return { added, rejected };
  }

  function select(limits: BlockLimits): SealedTransaction[] {
    const { selected, failed } = choose(pending.inForgingOrder(candidateLimit(limits)), limits);
    contents.remove(failed, "transaction.pool.removed");
    return selected;
  }

  function choose(offered: Iterable<SealedTransaction>, limits: BlockLimits) {
    const context = expirationContext();
    const isTooLate = ({ data }: SealedTransaction) =>
      isExpiredInNextBlock(expirationHeight(data, context), context.currentHeight);
    return selectTransactions(offered, limits, { network, state, head, isTooLate });
  }

  function blockApplied(transactions: readonly SealedTransaction[], addresses: ReadonlySet<string>): void {
    recentIds.clear();
    const included = transactions.flatMap(({ data }) => pending.get(data.id) ?? []);
    const changed = [...addresses].flatMap((address) => senders.publicKeyOf(address) ?? []);
    contents.remove(included, "transaction.pool.removed", changed);
    applyHeadRules();
  }

  /** Removes what a new height expires, and what a new milestone does not allow. */
  function applyHeadRules(): void {
    const context = expirationContext();
    const isPastExpiration = ({ data }: SealedTransaction) =>
      isExpired(expirationHeight(data, context), context.currentHeight);
    contents.remove(withLater(isPastExpiration), "transaction.expired");
    if (currentMilestone() === milestone) return;
    milestone = currentMilestone();
    const isOutdated = ({ data, bytes }: SealedTransaction) =>
      readAdmitted(data.id, bytes, transactionContext()) === undefined;
    contents.remove(withLater(isOutdated), "transaction.pool.removed", [...pending.senders()]);
  }

  /** The transactions that satisfy a test, and the later ones of the same senders; highest nonces first. */
  function withLater(test: (transaction: SealedTransaction) => boolean): SealedTransaction[] {
    return [...pending.senders()].flatMap((sender) => {
      const transactions = pending.ofSender(sender);
      const first = transactions.findIndex(test);
      return first < 0 ? [] : transactions.slice(first).reverse();
    });
  }

  const expirationContext = (): ExpirationContext => ({
    blockTime: network.milestoneAt(1).blocktime,
    currentHeight: head().height,
    now: now(),
    maxTransactionAge: options.maxTransactionAge,
  });

  function blocksReverted(transactions: readonly SealedTransaction[]): void {
    recentIds.clear();
    const returned = transactions.flatMap(
      ({ data, bytes }) => readAdmitted(data.id, bytes, transactionContext()) ?? [],
    );
    const waiting = [...pending.all()];
    contents.replace(waiting, [...returned, ...waiting]);
    applyHeadRules();
  }

  function restore(): void {
    const rows = deps.store.load();
    const forged = deps.storedIds(rows.map(({ id }) => id));
    const before: SealedTransaction[] = [];
    const usable: SealedTransaction[] = [];
    for (const { id, bytes } of rows) {
      journal.removed(id);
      const admitted = readAdmitted(id, bytes, transactionContext());
      const transaction = admitted ?? readUnchecked(id, bytes);
      if (transaction) before.push(transaction);
      if (admitted && !forged.has(id)) usable.push(admitted);
    }
    contents.replace(before, usable);
    applyHeadRules();
    journal.flush();
  }

  restore();
  return {
    submit,
    size: pending.size,
    figures: () => ({
      poolBytes: pending.byteLength(),
      poolWaiting: waiting,
      poolRefused: refusals.read(),
    }),
    get: pending.get,
    inForgingOrder: pending.inForgingOrder,
    select,
    selectWith(returned, limits, leftOut) {
      const candidates = [...returned, ...pending.inForgingOrder(candidateLimit(limits))];
      return choose(
        candidates.filter(({ data }) => !leftOut.has(data.id)),
        limits,
      ).selected;
    },
    blockApplied,
    blocksReverted,
    clear() {
      recentIds.clear();
      contents.replace([...pending.all()], []);
    },
    close() {
      isClosed = true;
      return journal.flush();
    },
  };
}
