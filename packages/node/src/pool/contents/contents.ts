/**
 * The contents of the pool: the pending transactions, the views of their senders, the rows on disk and the reports of
 * removals, which change together. The pending transactions of each sender apply in order on the chain, except of
 * senders that wait for their recheck (`pool/recheck.ts`).
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
   * bounds of the pool are dropped. A removal is not reported before `accept`, nor an eviction before `settleReturned`.
   */
  addReturned(transactions: readonly SealedTransaction[]): void;
  /** Returns true for a returned transaction that is not accepted yet. */
  isReturned(id: string): boolean;
  /** The transaction applies. */
  accept(id: string): void;
  /** All returned transactions were checked, and the pool respects its bounds. */
  settleReturned(): void;
  /** Removes a transaction and reports it; the view of its sender does not change. */
  remove(transaction: SealedTransaction, removalEvent: RemovalEvent): void;
  /** Returns true if the pool exceeds its bounds. */
  isOverfull(): boolean;
  /** Removes and returns the transaction to evict first. */
  evict(): SealedTransaction | undefined;
  /**
   * Replaces everything by the `transactions` that apply, in this order; reports the transactions of `before` that
   * are no longer pending.
   */
  replaceAll(before: readonly SealedTransaction[], transactions: Iterable<SealedTransaction>): void;
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
    /** Transactions returned by the latest reverts, by id; true if they were accepted. */
    readonly returned: Map<string, boolean>;
  };

export function createContents(options: ContentsOptions, deps: ContentsDeps): Contents {
  const state = { ...options, ...deps, returned: new Map<string, boolean>() };
  return {
    insert: (transaction) => insert(state, transaction),
    addReturned: (transactions) => addReturned(state, transactions),
    isReturned: (id) => state.returned.get(id) === false,
    accept: (id) => void (state.returned.has(id) && state.returned.set(id, true)),
    settleReturned: () => state.returned.clear(),
    remove: (transaction, removalEvent) => remove(state, transaction, removalEvent),
    isOverfull: () =>
      deps.pending.size() > options.maxTransactions || deps.pending.byteLength() > options.maxBytes,
    evict: () => evict(state),
    replaceAll: (before, transactions) => replaceAll(state, before, transactions),
    reportRemoval: (transaction, name) => state.journal.report({ name, transaction }),
  };
}

function insert(state: State, transaction: SealedTransaction): Insertion {
  const { pending, senders, journal, maxTransactions, maxBytes } = state;
  const { id, fee, senderPublicKey } = transaction.data;
  const { length } = transaction.bytes;
  if (pending.has(id)) return { isAdded: false, code: "ERR_ALREADY_IN_POOL", message: "Already in pool" };
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

function addReturned(state: State, transactions: readonly SealedTransaction[]): void {
  const { pending, journal, returned } = state;
  for (const transaction of fitting(state, transactions).toReversed()) {
    pending.add(transaction, "first");
    journal.added(transaction, "first");
    returned.set(transaction.data.id, false);
  }
}

/** The first transactions with which the pool has at most twice its bounds, without pending ones. */
function fitting(
  { pending, maxTransactions, maxBytes }: State,
  transactions: readonly SealedTransaction[],
): SealedTransaction[] {
  let bytes = pending.byteLength();
  const tooLarge = transactions.findIndex((transaction) => {
    bytes += transaction.bytes.length;
    return bytes > 2 * maxBytes;
  });
  const room = Math.max(0, 2 * maxTransactions - pending.size());
  return transactions
    .slice(0, tooLarge < 0 ? room : Math.min(room, tooLarge))
    .filter(({ data }) => !pending.has(data.id));
}

function drop({ pending, journal }: State, { data }: SealedTransaction): void {
  pending.remove(data.id);
  journal.removed(data.id);
}

function remove(state: State, transaction: SealedTransaction, name: RemovalEvent): void {
  const { id } = transaction.data;
  const isAccepted = state.returned.get(id) ?? true;
  state.returned.delete(id);
  drop(state, transaction);
  if (isAccepted) state.journal.report({ name, transaction });
}

function evict(state: State): SealedTransaction | undefined {
  const evicted = state.pending.evictionCandidate();
  if (!evicted) return undefined;
  drop(state, evicted);
  const isReturned = state.returned.delete(evicted.data.id);
  if (!isReturned) state.journal.report({ name: "transaction.pool.removed", transaction: evicted });
  return evicted;
}

function replaceAll(
  state: State,
  before: readonly SealedTransaction[],
  transactions: Iterable<SealedTransaction>,
): void {
  for (const transaction of before) drop(state, transaction);
  state.senders.clear();
  for (const transaction of transactions) insert(state, transaction);
  for (const transaction of before) {
    const isAccepted = state.returned.get(transaction.data.id) ?? true;
    if (!isAccepted || state.pending.has(transaction.data.id)) continue;
    state.journal.report({ name: "transaction.pool.removed", transaction });
  }
  state.returned.clear();
}
