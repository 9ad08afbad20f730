/** The pool of pending transactions (pool.md). */
import type { StateReader } from "@uniknode/ledger";
import type { Network, SealedTransaction } from "@uniknode/protocol";
import type { AdmissionAnswer } from "../gateway/gateway.ts";
import type { PoolStore } from "../store/node/pool.ts";
import { conclude, type Examination, examine } from "./admission/admission.ts";
import { answerOf } from "./admission/answer.ts";
import { type Candidate, candidateFrom } from "./admission/candidate.ts";
import { createRecentIds } from "./admission/recent-ids.ts";
import { type Verify, verifySignatures } from "./admission/signatures.ts";
import { createContents } from "./contents/contents.ts";
import { createJournal } from "./contents/journal.ts";
import { createPending } from "./contents/pending.ts";
import { createSenders } from "./contents/senders.ts";
import { readAdmitted, readUnchecked } from "./contents/stored.ts";
import type { PoolEvent, Rejected } from "./events.ts";
import { type ExpirationContext, expirationHeight, isExpired, isRefusedAtAdmission } from "./expiration.ts";
import { createRefusalCounts, type PoolFigures } from "./figures.ts";
import type { PoolOptions } from "./options.ts";
import { type SelectionLimits, selectTransactions } from "./selection.ts";

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
  /** Hears of each change within the database transaction that makes it durable. */
  readonly emit: (event: PoolEvent) => void;
  /** Hears why changes could not be written; they are tried again until they are. */
  readonly onWriteFailed?: (error: unknown) => void;
};

export type Pool = {
  /**
   * Takes what it can of one request; the answer comes when it is on disk. Requests enter in the order of the calls.
   *
   * @throws {PoolClosedError | PoolBusyError}
   */
  submit(inputs: readonly unknown[]): Promise<AdmissionAnswer>;
  size(): number;
  figures(): PoolFigures;
  get(id: string): SealedTransaction | undefined;
  /** At least `limit` transactions if there are as many. */
  inForgingOrder(limit?: number): SealedTransaction[];
  /** Transactions for the next block, in order; those that no longer apply leave the pool (pool.md 9). */
  select(limits: SelectionLimits): SealedTransaction[];
  /**
   * The same while blocks are being replaced, of what they held and then of what is pending. Nothing leaves: whether the
   * new blocks stay is not known.
   */
  selectWith(returned: readonly SealedTransaction[], limits: SelectionLimits): SealedTransaction[];
  /** A block was committed; `addresses` are the wallets that it changed. The state may be that of a later block. */
  blockApplied(transactions: readonly SealedTransaction[], addresses: ReadonlySet<string>): void;
  /** Blocks were reverted; their transactions, oldest first, come back before those that were pending. */
  blocksReverted(transactions: readonly SealedTransaction[]): void;
  /** Drops everything that is pending. */
  clear(): void;
  /** Writes what is outstanding, before it returns. Nothing is taken any more. */
  close(): Promise<void>;
};

/** The pool was closed before the transactions could be taken. */
export class PoolClosedError extends Error {
  readonly code = "POOL_CLOSED";
  readonly isRetryable = false;

  constructor() {
    super("the pool was closed");
    this.name = "PoolClosedError";
  }
}

/** As many transactions as may wait are being examined. Worth a retry after a moment. */
export class PoolBusyError extends Error {
  readonly code = "POOL_BUSY";
  readonly isRetryable = true;

  constructor() {
    super("too many transactions are being examined; send them again in a moment");
    this.name = "PoolBusyError";
  }
}

/** Transactions of requests that are not answered yet, where there is more than one request. */
const MAX_WAITING = 10_000;

/** Room for pending transactions; an ordinary one has some 250 bytes. */
const MIN_BYTES = 64 * 1024 * 1024;
const BYTES_PER_TRANSACTION = 1024;

/** How many times the wanted number of transactions are tried for a block. */
const SELECTION_FACTOR = 10;
const offeredFor = ({ maxTransactions }: SelectionLimits) => maxTransactions * SELECTION_FACTOR;

/** The pool with what was pending when it was closed last. */
export function createPool(options: PoolOptions, deps: PoolDeps): Pool {
  const { network, state, head, now } = deps;
  const pending = createPending();
  const senders = createSenders({ network, state, head, minterOf: pending.minterOf });
  const journal = createJournal(deps);
  const { maxTransactions } = options;
  const maxBytes = Math.max(MIN_BYTES, maxTransactions * BYTES_PER_TRANSACTION);
  const contents = createContents({ maxTransactions, maxBytes }, { pending, senders, journal });
  const recentIds = createRecentIds();
  const arrivalDeps = { network, state, pending, head, now };
  const transactionContext = () => ({ network, height: head().height });
  const currentMilestone = () => network.milestoneAt(head().height);
  let milestone = currentMilestone();
  const refusals = createRefusalCounts();
  let lastTurn: Promise<unknown> = Promise.resolve();
  /** Transactions whose admission is under way. */
  let waiting = 0;
  let isClosed = false;

  async function submit(inputs: readonly unknown[]): Promise<AdmissionAnswer> {
    if (waiting > 0 && waiting + inputs.length > MAX_WAITING) {
      refusals.count("POOL_BUSY", inputs.length);
      throw new PoolBusyError();
    }
    waiting += inputs.length;
    try {
      return await examineAndAdmit(inputs);
    } finally {
      waiting -= inputs.length;
    }
  }

  async function examineAndAdmit(inputs: readonly unknown[]): Promise<AdmissionAnswer> {
    // Stage A: ids seen lately, whatever became of them
    const [fresh, repeated] = recentIds.partition(inputs.map(candidateFrom), ({ id }) => id);
    // Stage B, during which other requests may be examined
    const examination = examine(fresh, options, arrivalDeps);
    const verifying = verifySignatures(examination.examined, deps.verify);
    const turn = Promise.all([verifying, lastTurn]).then(([verdicts]) =>
      admit(repeated, examination, verdicts),
    );
    lastTurn = turn.catch(() => undefined);
    const answer = await turn;
    if (answer.data.accept.length > 0) await journal.flushed();
    return answer;
  }

  function admit(
    repeated: readonly Candidate[],
    examination: Examination,
    verdicts: readonly boolean[],
  ): AdmissionAnswer {
    if (isClosed) throw new PoolClosedError();
    const { accept, broadcast, excess, refused } = conclude(examination, verdicts, options, arrivalDeps);
    // Stage C
    const judged = new Set([...accept, ...broadcast].map(({ data }) => data.id));
    const forged = deps.storedIds([...judged]);
    const isNew = ({ data }: SealedTransaction) => !forged.has(data.id);
    // Stage D
    const { added, rejected } = insertAll(accept.filter(isNew));
    // What the pool has no room for may still find some elsewhere.
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
    return answerOf({
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
    for (const transaction of evicted) contents.reportDeparture(transaction, "transaction.pool.removed");
    return { added, rejected };
  }

  function select(limits: SelectionLimits): SealedTransaction[] {
    const { selected, failed } = choose(pending.inForgingOrder(offeredFor(limits)), limits);
    contents.remove(failed, "transaction.pool.removed");
    return selected;
  }

  function choose(offered: Iterable<SealedTransaction>, limits: SelectionLimits) {
    const context = expirationContext();
    const isTooLate = ({ data }: SealedTransaction) =>
      isRefusedAtAdmission(expirationHeight(data, context), context.currentHeight);
    return selectTransactions(offered, limits, { network, state, head, isTooLate });
  }

  function blockApplied(transactions: readonly SealedTransaction[], addresses: ReadonlySet<string>): void {
    recentIds.clear();
    const included = transactions.flatMap(({ data }) => pending.get(data.id) ?? []);
    const changed = [...addresses].flatMap((address) => senders.publicKeyOf(address) ?? []);
    contents.remove(included, "transaction.pool.removed", changed);
    followHead();
  }

  /** What a new height or a new milestone ends. */
  function followHead(): void {
    const context = expirationContext();
    const isLapsed = ({ data }: SealedTransaction) =>
      isExpired(expirationHeight(data, context), context.currentHeight);
    contents.remove(withLater(isLapsed), "transaction.expired");
    if (currentMilestone() === milestone) return;
    milestone = currentMilestone();
    const isOutdated = ({ data, bytes }: SealedTransaction) =>
      readAdmitted(data.id, bytes, transactionContext()) === undefined;
    contents.remove(withLater(isOutdated), "transaction.pool.removed", [...pending.senders()]);
  }

  /** The transactions of which this is true, and the later ones of the same senders; highest nonces first. */
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
    followHead();
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
    followHead();
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
    selectWith: (returned, limits) =>
      choose([...returned, ...pending.inForgingOrder(offeredFor(limits))], limits).selected,
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
