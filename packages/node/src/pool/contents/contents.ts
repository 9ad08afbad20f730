/**
 * The contents of the pool: the pending transactions, the views of their senders, the rows on disk and the reports of
 * removals, which change together. The pending transactions of each sender apply in order on the chain, except of
 * senders that wait for their recheck (`pool/recheck.ts`), and of dependents: transactions that were valid in the order of
 * reverted blocks, and apply only after others of these, such as a payment from an income that is pending again.
 */
import type { SealedTransaction } from "@uniknode/protocol";
import type { PoolEvent, RefusalCode } from "../events.ts";
import type { Journal } from "./journal.ts";
import type { Pending } from "./pending.ts";
import type { Senders } from "./senders.ts";

export type Insertion =
  | { readonly isAdded: true; readonly evicted?: SealedTransaction }
  | { readonly isAdded: false; readonly code: RefusalCode; readonly message: string };

/** Name of the event that reports a removal. */
export type RemovalEvent = Extract<PoolEvent, { readonly transaction: SealedTransaction }>["name"];

const REMOVED = "transaction.pool.removed";

/** The balance after dependents is unknown until they are in a block: a submission must not build on it. */
const DEPENDENT =
  "The sender has pending transactions of reverted blocks that spend a pending income: " +
  "send the transaction again when a block contains them.";

type ContentsDeps = {
  readonly pending: Pending;
  readonly senders: Pick<Senders, "apply" | "rebuild" | "clear">;
  readonly journal: Pick<Journal, "added" | "removed" | "report">;
};

export class Contents {
  readonly #maxTransactions: number;
  /** Serialized bytes of all pending transactions. */
  readonly #maxBytes: number;
  readonly #pending: Pending;
  readonly #senders: ContentsDeps["senders"];
  readonly #journal: ContentsDeps["journal"];
  /** Ids of returned transactions that were not checked yet. */
  readonly #unchecked = new Set<string>();
  /** Ids in the order in which dependents apply. */
  readonly #line = new Set<string>();
  /** Sender of each dependent, by id. */
  readonly #dependents = new Map<string, string>();
  readonly #dropped: SealedTransaction[] = [];
  /** False from a revert until everything that is pending then was checked: it can become a dependent. */
  #isSettled = true;

  constructor(
    { maxTransactions, maxBytes }: { readonly maxTransactions: number; readonly maxBytes: number },
    deps: ContentsDeps,
  ) {
    this.#maxTransactions = maxTransactions;
    this.#maxBytes = maxBytes;
    this.#pending = deps.pending;
    this.#senders = deps.senders;
    this.#journal = deps.journal;
  }

  /** Stage D of admission. An evicted transaction is removed already; the caller reports it. */
  insert(transaction: SealedTransaction): Insertion {
    const pending = this.#pending;
    const { id, fee, senderPublicKey } = transaction.data;
    const { length } = transaction.bytes;
    if (pending.has(id)) return { isAdded: false, code: "ERR_ALREADY_IN_POOL", message: "Already in pool" };
    if (this.#hasDependents(senderPublicKey))
      return { isAdded: false, code: "ERR_APPLY", message: DEPENDENT };
    const isTooMuch = (bytes: number) => pending.byteLength() + bytes > this.#maxBytes;
    const isFull = pending.size() >= this.#maxTransactions || isTooMuch(length);
    // The new transaction may build on the last one of its own sender.
    const evicted = isFull ? pending.evictionCandidate(senderPublicKey) : undefined;
    if (isFull && (!evicted || evicted.data.fee >= fee)) return this.#poolFull(fee, evicted?.data.fee);
    if (evicted && isTooMuch(length - evicted.bytes.length)) return this.#poolFull(fee, evicted.data.fee);
    const reason = this.#senders.apply(transaction);
    if (reason !== undefined) return { isAdded: false, code: "ERR_APPLY", message: reason };
    pending.add(transaction);
    this.#journal.added(transaction);
    if (!evicted) return { isAdded: true };
    this.#drop(evicted);
    this.#senders.rebuild(evicted.data.senderPublicKey, pending.ofSender(evicted.data.senderPublicKey));
    return { isAdded: true, evicted };
  }

  #poolFull(fee: bigint, lowest: bigint | undefined): Insertion {
    const message =
      `Pool is full (has ${this.#pending.size()} transactions) and this transaction's fee ${fee} ` +
      `is not higher than the lowest fee already in pool ${lowest}`;
    return { isAdded: false, code: "ERR_POOL_FULL", message };
  }

  #hasDependents(senderPublicKey: string): boolean {
    return (
      this.#dependents.size > 0 &&
      this.#pending.ofSender(senderPublicKey).some(({ data }) => this.#dependents.has(data.id))
    );
  }

  /**
   * Adds transactions of reverted blocks before all others, in their order and without a check. Those beyond twice the
   * bounds of the pool are dropped: see `takeDropped`.
   */
  addReturned(transactions: readonly SealedTransaction[]): void {
    const count = this.#countFitting(transactions);
    const isNew = ({ data }: SealedTransaction) => !this.#pending.has(data.id);
    const added = transactions.slice(0, count).filter(isNew);
    for (const transaction of transactions.slice(count).filter(isNew)) {
      this.#dropped.push(transaction);
      // The revert has written it.
      this.#journal.removed(transaction.data.id);
    }
    for (const transaction of added.toReversed()) {
      this.#pending.add(transaction, "first");
      this.#journal.added(transaction, "first");
    }
    this.#beginLine(added);
  }

  /** Number of the first transactions with which the pool has at most twice its bounds. */
  #countFitting(transactions: readonly SealedTransaction[]): number {
    let bytes = this.#pending.byteLength();
    const tooLarge = transactions.findIndex((transaction) => {
      bytes += transaction.bytes.length;
      return bytes > 2 * this.#maxBytes;
    });
    const room = Math.max(0, 2 * this.#maxTransactions - this.#pending.size());
    return tooLarge < 0 ? room : Math.min(room, tooLarge);
  }

  /** Adds stored transactions like returned ones, without a bound. The rows that they come from stay. */
  addStored(transactions: readonly SealedTransaction[]): void {
    for (const transaction of transactions) this.#pending.add(transaction);
    this.#beginLine(transactions);
  }

  /** Places transactions before those of earlier reverts. */
  #beginLine(transactions: readonly SealedTransaction[]): void {
    const later = [...this.#line];
    this.#line.clear();
    for (const { data } of transactions) {
      this.#line.add(data.id);
      this.#unchecked.add(data.id);
    }
    for (const id of later) this.#line.add(id);
    this.#isSettled = false;
  }

  /** Returns true for a returned transaction that was not checked yet. */
  isReturned(id: string): boolean {
    return this.#unchecked.has(id);
  }

  /** The transaction applies to the view of its sender. */
  accept(id: string): void {
    this.#unchecked.delete(id);
    this.#dependents.delete(id);
  }

  /**
   * The transaction does not apply to the view of its sender. Returns true if it is now a dependent, which a recheck
   * removes if it does not apply after the others in `line`.
   */
  postpone({ data: { id, senderPublicKey } }: SealedTransaction): boolean {
    if (!this.#line.has(id)) {
      if (this.#isSettled) return false;
      for (const { data } of this.#pending.ofSender(senderPublicKey)) this.#line.add(data.id);
    }
    this.#unchecked.delete(id);
    this.#dependents.set(id, senderPublicKey);
    return true;
  }

  isDependent(id: string): boolean {
    return this.#dependents.has(id);
  }

  /** The sender of each dependent. Their submissions are refused. */
  dependentSenders(): Iterable<string> {
    return this.#dependents.values();
  }

  /**
   * While there are dependents: the transactions of reverted blocks in their order, and then the others of senders of
   * dependents. They are forged in this order.
   */
  line(): SealedTransaction[] {
    if (this.#dependents.size === 0) return [];
    return Array.from(this.#line).flatMap((id) => this.#pending.get(id) ?? []);
  }

  /** Removes a returned transaction that no event reports: one that was dropped. */
  takeDropped(): SealedTransaction | undefined {
    return this.#dropped.pop();
  }

  /** All returned transactions were checked, and the pool respects its bounds. */
  settleReturned(): void {
    this.#isSettled = true;
    if (this.#dependents.size === 0) this.#line.clear();
  }

  /** Removes a transaction and reports it; the view of its sender does not change. */
  remove(transaction: SealedTransaction, removalEvent: RemovalEvent): void {
    this.#drop(transaction);
    this.reportRemoval(transaction, removalEvent);
  }

  /** Removes a transaction that a block includes. A returned one that was not checked yet was reported before. */
  removeIncluded(transaction: SealedTransaction): void {
    if (this.#unchecked.has(transaction.data.id)) this.#drop(transaction);
    else this.remove(transaction, REMOVED);
  }

  #drop({ data: { id } }: SealedTransaction): void {
    this.#pending.remove(id);
    this.#journal.removed(id);
    this.#unchecked.delete(id);
    this.#line.delete(id);
    this.#dependents.delete(id);
  }

  reportRemoval(transaction: SealedTransaction, name: RemovalEvent): void {
    this.#journal.report({ name, transaction });
  }

  /** Returns true if the pool exceeds its bounds. */
  isOverfull(): boolean {
    return this.#pending.size() > this.#maxTransactions || this.#pending.byteLength() > this.#maxBytes;
  }

  /** Removes and returns the transaction to evict first. */
  evict(): SealedTransaction | undefined {
    const evicted = this.#pending.evictionCandidate();
    if (evicted) this.remove(evicted, REMOVED);
    return evicted;
  }

  /** Removes and reports everything. */
  clear(): void {
    for (const transaction of [...this.#pending.all()]) this.remove(transaction, REMOVED);
    this.#senders.clear();
  }
}
