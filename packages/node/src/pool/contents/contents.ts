/**
 * The contents of the pool: the pending transactions, the views of their senders, the rows on disk and the reports of
 * removals, which change together. The pending transactions of each sender apply in order on the chain, except of
 * senders that wait for their recheck (`pool/recheck.ts`), and of dependents: transactions that were valid in the order of
 * reverted blocks, and apply only after others of these, such as a payment from an income that is pending again.
 */
import type { SealedTransaction } from "@uniknode/protocol";
import type { PoolEvent } from "../events.ts";
import type { RefusalCode } from "../refusal.ts";
import type { Journal } from "./journal.ts";
import type { Pending } from "./pending.ts";
import type { Senders } from "./senders.ts";

export type Insertion =
  | { readonly isAdded: true; readonly evicted?: SealedTransaction }
  | { readonly isAdded: false; readonly code: RefusalCode; readonly message: string };

/** Name of the event that reports a removal. */
export type RemovalEvent = Extract<PoolEvent, { readonly transaction: SealedTransaction }>["name"];

export type Contents = {
  /** Stage D of admission. An evicted transaction is removed already; the caller reports it. */
  insert(transaction: SealedTransaction): Insertion;
  /**
   * Adds transactions of reverted blocks before all others, in their order and without a check. Those beyond twice the
   * bounds of the pool are dropped: see `takeDropped`.
   */
  addReturned(transactions: readonly SealedTransaction[]): void;
  /** Adds stored transactions like returned ones, without a bound. */
  addStored(transactions: readonly SealedTransaction[]): void;
  /** Returns true for a returned transaction that was not checked yet. */
  isReturned(id: string): boolean;
  /** The transaction applies to the view of its sender. */
  accept(id: string): void;
  /**
   * The transaction does not apply to the view of its sender. Returns true if it is now a dependent, which a recheck
   * removes if it does not apply after the others in `line`.
   */
  postpone(transaction: SealedTransaction): boolean;
  isDependent(id: string): boolean;
  /** The sender of each dependent. Their submissions are refused. */
  dependentSenders(): Iterable<string>;
  /**
   * While there are dependents: the transactions of reverted blocks in their order, and then the others of senders of
   * dependents. They are forged in this order.
   */
  line(): SealedTransaction[];
  /** Removes a returned transaction that no event reports: one that was dropped. */
  takeDropped(): SealedTransaction | undefined;
  /** All returned transactions were checked, and the pool respects its bounds. */
  settleReturned(): void;
  /** Removes a transaction and reports it; the view of its sender does not change. */
  remove(transaction: SealedTransaction, removalEvent: RemovalEvent): void;
  /** Removes a transaction that a block includes. A returned one that was not checked yet was reported before. */
  removeIncluded(transaction: SealedTransaction): void;
  /** Returns true if the pool exceeds its bounds. */
  isOverfull(): boolean;
  /** Removes and returns the transaction to evict first. */
  evict(): SealedTransaction | undefined;
  /** Removes and reports everything. */
  clear(): void;
  reportRemoval(transaction: SealedTransaction, removalEvent: RemovalEvent): void;
};

export type ContentsOptions = {
  readonly maxTransactions: number;
  /** Serialized bytes of all pending transactions. */
  readonly maxBytes: number;
};

export type ContentsDeps = {
  readonly pending: Pending;
  readonly senders: Senders;
  readonly journal: Journal;
};

type State = ContentsOptions &
  ContentsDeps & {
    /** Ids of returned transactions that were not checked yet. */
    readonly unchecked: Set<string>;
    /** Ids in the order in which dependents apply. */
    readonly line: Set<string>;
    /** Sender of each dependent, by id. */
    readonly dependents: Map<string, string>;
    readonly dropped: SealedTransaction[];
    /** False from a revert until everything that is pending then was checked: it can become a dependent. */
    isSettled: boolean;
  };

export function createContents(options: ContentsOptions, deps: ContentsDeps): Contents {
  const state: State = {
    ...options,
    ...deps,
    unchecked: new Set(),
    line: new Set(),
    dependents: new Map(),
    dropped: [],
    isSettled: true,
  };
  return {
    insert: (transaction) => insert(state, transaction),
    addReturned: (transactions) => addReturned(state, transactions),
    addStored: (transactions) => addStored(state, transactions),
    isReturned: (id) => state.unchecked.has(id),
    accept(id) {
      state.unchecked.delete(id);
      state.dependents.delete(id);
    },
    postpone: (transaction) => postpone(state, transaction),
    isDependent: (id) => state.dependents.has(id),
    dependentSenders: () => state.dependents.values(),
    line: () =>
      state.dependents.size === 0 ? [] : Array.from(state.line).flatMap((id) => deps.pending.get(id) ?? []),
    takeDropped: () => state.dropped.pop(),
    settleReturned() {
      state.isSettled = true;
      if (state.dependents.size === 0) state.line.clear();
    },
    remove: (transaction, removalEvent) => remove(state, transaction, removalEvent),
    removeIncluded(transaction) {
      if (state.unchecked.has(transaction.data.id)) drop(state, transaction);
      else remove(state, transaction, REMOVED);
    },
    isOverfull: () =>
      deps.pending.size() > options.maxTransactions || deps.pending.byteLength() > options.maxBytes,
    evict: () => evict(state),
    clear() {
      for (const transaction of [...deps.pending.all()]) remove(state, transaction, REMOVED);
      deps.senders.clear();
    },
    reportRemoval: (transaction, name) => state.journal.report({ name, transaction }),
  };
}

const REMOVED = "transaction.pool.removed";

function insert(state: State, transaction: SealedTransaction): Insertion {
  const { pending, senders, journal, maxTransactions, maxBytes } = state;
  const { id, fee, senderPublicKey } = transaction.data;
  const { length } = transaction.bytes;
  if (pending.has(id)) return { isAdded: false, code: "ERR_ALREADY_IN_POOL", message: "Already in pool" };
  if (hasDependents(state, senderPublicKey)) return { isAdded: false, code: "ERR_APPLY", message: DEPENDENT };
  const isTooMuch = (bytes: number) => pending.byteLength() + bytes > maxBytes;
  const isFull = pending.size() >= maxTransactions || isTooMuch(length);
  // The new transaction may build on the last one of its own sender.
  const evicted = isFull ? pending.evictionCandidate(senderPublicKey) : undefined;
  if (isFull && (!evicted || evicted.data.fee >= fee)) return poolFull(state, fee, evicted?.data.fee);
  if (evicted && isTooMuch(length - evicted.bytes.length)) return poolFull(state, fee, evicted.data.fee);
  const reason = senders.apply(transaction);
  if (reason !== undefined) return { isAdded: false, code: "ERR_APPLY", message: reason };
  pending.add(transaction);
  journal.added(transaction);
  if (!evicted) return { isAdded: true };
  drop(state, evicted);
  senders.rebuild(evicted.data.senderPublicKey, pending.ofSender(evicted.data.senderPublicKey));
  return { isAdded: true, evicted };
}

function poolFull({ pending }: State, fee: bigint, lowest: bigint | undefined): Insertion {
  const message =
    `Pool is full (has ${pending.size()} transactions) and this transaction's fee ${fee} ` +
    `is not higher than the lowest fee already in pool ${lowest}`;
  return { isAdded: false, code: "ERR_POOL_FULL", message };
}

/** The balance after dependents is unknown until they are in a block: a submission must not build on it. */
const DEPENDENT =
  "The sender has pending transactions of reverted blocks that spend a pending income: " +
  "send the transaction again when a block contains them.";

const hasDependents = ({ dependents, pending }: State, senderPublicKey: string): boolean =>
  dependents.size > 0 && pending.ofSender(senderPublicKey).some(({ data }) => dependents.has(data.id));

function addReturned(state: State, transactions: readonly SealedTransaction[]): void {
  const { pending, journal, dropped } = state;
  const count = countFitting(state, transactions);
  const isNew = ({ data }: SealedTransaction) => !pending.has(data.id);
  const added = transactions.slice(0, count).filter(isNew);
  for (const transaction of transactions.slice(count).filter(isNew)) dropped.push(transaction);
  for (const transaction of added.toReversed()) {
    pending.add(transaction, "first");
    journal.added(transaction, "first");
  }
  beginLine(state, added);
}

/** Number of the first transactions with which the pool has at most twice its bounds. */
function countFitting(
  { pending, maxTransactions, maxBytes }: State,
  transactions: readonly SealedTransaction[],
): number {
  let bytes = pending.byteLength();
  const tooLarge = transactions.findIndex((transaction) => {
    bytes += transaction.bytes.length;
    return bytes > 2 * maxBytes;
  });
  const room = Math.max(0, 2 * maxTransactions - pending.size());
  return tooLarge < 0 ? room : Math.min(room, tooLarge);
}

/** The rows that they come from stay. */
function addStored(state: State, transactions: readonly SealedTransaction[]): void {
  for (const transaction of transactions) state.pending.add(transaction);
  beginLine(state, transactions);
}

/** Places transactions before those of earlier reverts. */
function beginLine(state: State, transactions: readonly SealedTransaction[]): void {
  const { line, unchecked } = state;
  const later = [...line];
  line.clear();
  for (const { data } of transactions) {
    line.add(data.id);
    unchecked.add(data.id);
  }
  for (const id of later) line.add(id);
  state.isSettled = false;
}

function postpone(
  { line, isSettled, pending, unchecked, dependents }: State,
  { data: { id, senderPublicKey } }: SealedTransaction,
): boolean {
  if (!line.has(id)) {
    if (isSettled) return false;
    for (const { data } of pending.ofSender(senderPublicKey)) line.add(data.id);
  }
  unchecked.delete(id);
  dependents.set(id, senderPublicKey);
  return true;
}

function drop({ pending, journal, unchecked, line, dependents }: State, { data: { id } }: SealedTransaction) {
  pending.remove(id);
  journal.removed(id);
  unchecked.delete(id);
  line.delete(id);
  dependents.delete(id);
}

function remove(state: State, transaction: SealedTransaction, name: RemovalEvent): void {
  drop(state, transaction);
  state.journal.report({ name, transaction });
}

function evict(state: State): SealedTransaction | undefined {
  const evicted = state.pending.evictionCandidate();
  if (evicted) remove(state, evicted, REMOVED);
  return evicted;
}
