/** Index of the pending transactions by id, by sender and nonce, by fee, and by expiration (pool.md 8). */
import type { SealedTransaction } from "@uniknode/protocol";
import { SortedList } from "../../platform/sorted.ts";
import { type ExpirationContext, Expirations } from "./expiration.ts";

/** Order of arrival of an added transaction: after all others, or before them. */
export type Place = "last" | "first";

type IsLeftOut = (senderPublicKey: string) => boolean;

type Entry = { transaction: SealedTransaction; readonly arrival: number };

const NONE: readonly SealedTransaction[] = [];

export class Pending {
  readonly #byId = new Map<string, Entry>();
  readonly #bySender = new Map<string, SealedTransaction[]>();
  /** Highest fee first, equal fees in order of arrival. */
  readonly #byFee = new SortedList<Entry>(isBefore);
  readonly #expirations = new Expirations();
  /** The complete forging order, cached until something changes: clients request it page by page. */
  #order: SealedTransaction[] | undefined;
  #nextArrival = 0;
  #firstArrival = 0;
  #byteLength = 0;

  size(): number {
    return this.#byId.size;
  }

  /** Serialized bytes of all transactions. */
  byteLength(): number {
    return this.#byteLength;
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  get(id: string): SealedTransaction | undefined {
    return this.#byId.get(id)?.transaction;
  }

  all(): IteratorObject<SealedTransaction> {
    return this.#byId.values().map(({ transaction }) => transaction);
  }

  /**
   * Returns the transactions of a sender by nonce, lowest first. The list is live: copy it before
   * transactions are removed.
   */
  ofSender(senderPublicKey: string): readonly SealedTransaction[] {
    return this.#bySender.get(senderPublicKey) ?? NONE;
  }

  senders(): Iterable<string> {
    return this.#bySender.keys();
  }

  /** Returns the transactions that are expired at the head. */
  expired(context: ExpirationContext): SealedTransaction[] {
    return this.#expirations.expired(context);
  }

  add(transaction: SealedTransaction, place: Place = "last"): void {
    this.#order = undefined;
    const entry = { transaction, arrival: place === "last" ? this.#nextArrival++ : --this.#firstArrival };
    const { id, senderPublicKey } = transaction.data;
    this.#byId.set(id, entry);
    this.#byFee.insert(entry);
    this.#expirations.add(transaction);
    this.#byteLength += transaction.bytes.length;
    const siblings = this.#bySender.get(senderPublicKey);
    if (siblings) siblings.splice(indexAmong(siblings, transaction, place), 0, transaction);
    else this.#bySender.set(senderPublicKey, [transaction]);
  }

  /** Replaces a transaction by the same one, read again. Its order of arrival stays. */
  update(transaction: SealedTransaction): void {
    const { id, senderPublicKey } = transaction.data;
    const entry = this.#byId.get(id);
    const siblings = this.#bySender.get(senderPublicKey);
    if (!entry || !siblings) return;
    this.#order = undefined;
    siblings[siblings.indexOf(entry.transaction)] = transaction;
    entry.transaction = transaction;
  }

  remove(id: string): void {
    const entry = this.#byId.get(id);
    if (!entry) return;
    const { transaction } = entry;
    this.#order = undefined;
    this.#byId.delete(id);
    this.#byFee.remove(entry);
    this.#expirations.remove(transaction);
    this.#byteLength -= transaction.bytes.length;
    const { senderPublicKey } = transaction.data;
    const siblings = this.#bySender.get(senderPublicKey);
    siblings?.splice(siblings.indexOf(transaction), 1);
    if (siblings?.length === 0) this.#bySender.delete(senderPublicKey);
  }

  /** Returns the transactions in forging order, at least `limit` if there are as many. */
  inForgingOrder(limit = Number.POSITIVE_INFINITY): SealedTransaction[] {
    if (limit < this.#byId.size) return [...this.candidates(limit)];
    this.#order ??= [...this.candidates(limit)];
    return [...this.#order];
  }

  /**
   * Iterates like `inForgingOrder` over the transactions of some senders. The pool must not change meanwhile.
   *
   * @param isLeftOut returns true for a sender whose transactions are left out
   */
  *candidates(limit: number, isLeftOut: IsLeftOut = () => false): Iterable<SealedTransaction> {
    const placed = new Set<SealedTransaction>();
    /** Number of each sender's transactions, from the lowest nonce, that are placed with a later one. */
    const pulled = new Map<string, number>();
    for (const { transaction } of this.#byFee.values()) {
      if (placed.size >= limit) break;
      const { nonce, senderPublicKey } = transaction.data;
      if (placed.has(transaction) || isLeftOut(senderPublicKey)) continue;
      // A later transaction with a high fee also places the earlier ones of its sender; version 1 has no nonces.
      if (nonce !== undefined) {
        const siblings = this.ofSender(senderPublicKey);
        let next = pulled.get(senderPublicKey) ?? 0;
        for (let sibling = siblings[next]; sibling && nonceOf(sibling) < nonce; sibling = siblings[++next]) {
          if (placed.has(sibling)) continue;
          placed.add(sibling);
          yield sibling;
        }
        pulled.set(senderPublicKey, next);
      }
      placed.add(transaction);
      yield transaction;
    }
  }

  /** The transaction to evict first when the pool is full: the cheapest one on which no other one builds. */
  evictionCandidate(exceptSender?: string): SealedTransaction | undefined {
    for (const { transaction } of this.#byFee.reversed()) {
      const { senderPublicKey } = transaction.data;
      if (senderPublicKey !== exceptSender && this.ofSender(senderPublicKey).at(-1) === transaction)
        return transaction;
    }
    return undefined;
  }
}

/** Equal nonces are in order of arrival. */
function indexAmong(siblings: readonly SealedTransaction[], added: SealedTransaction, place: Place): number {
  const nonce = nonceOf(added);
  if (place === "last") return siblings.findLastIndex((other) => nonceOf(other) <= nonce) + 1;
  const next = siblings.findIndex((other) => nonceOf(other) >= nonce);
  return next < 0 ? siblings.length : next;
}

function isBefore(left: Entry, right: Entry): boolean {
  const [a, b] = [left.transaction.data.fee, right.transaction.data.fee];
  return a === b ? left.arrival < right.arrival : a > b;
}

/** Version 1 has no nonce: it stays in order of arrival. */
const nonceOf = ({ data }: SealedTransaction): bigint => data.nonce ?? 0n;
