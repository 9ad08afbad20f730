/** Index of the pending transactions by id, by sender and nonce, by fee, and by expiration (pool.md 6 and 8). */
import type { SealedTransaction } from "@uniknode/protocol";
import { SortedList } from "../../platform/sorted.ts";

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

/** Members that decide the expiration; `timestamp` is in seconds since the network epoch. */
type ExpiringFields = { version?: number; expiration?: number; timestamp?: number };

export type ExpirationContext = {
  /** Seconds of a slot. */
  blockTime: number;
  /** Height of the head. */
  currentHeight: number;
  /** Network time in seconds. */
  now: number;
  /** Maximum age of a pending version 1 transaction in blocks. */
  maxTransactionAge: number;
};

/** Height from which the transaction is expired; undefined if it never expires. */
export function expirationHeight(
  transaction: ExpiringFields,
  context: ExpirationContext,
): number | undefined {
  if (transaction.version === 2) return transaction.expiration || undefined;
  // A missing timestamp is rejected by the schema later.
  if (transaction.timestamp === undefined) return undefined;
  const age = Math.floor((context.now - transaction.timestamp) / context.blockTime);
  return context.currentHeight - age + context.maxTransactionAge;
}

/** Returns true if a transaction is expired in the next block: it is no longer admitted or selected. */
export const isExpiredInNextBlock = (expiration: number | undefined, lastHeight: number): boolean =>
  expiration !== undefined && expiration <= lastHeight + 1;

export const isExpired = (expiration: number | undefined, lastHeight: number): boolean =>
  expiration !== undefined && expiration <= lastHeight;

type Expiring = { readonly at: number; readonly transaction: SealedTransaction };

/** Index of the pending transactions by their expiration, so that a block costs only what it expires. */
export class Expirations {
  /** Version 2, by height. */
  readonly #byHeight = new SortedList(isEarlier);
  /** Version 1, by timestamp: its height of expiration moves with the time. */
  readonly #byTimestamp = new SortedList(isEarlier);

  add(transaction: SealedTransaction): void {
    const expiring = toExpiring(transaction);
    if (expiring) this.#listOf(transaction).insert(expiring);
  }

  remove(transaction: SealedTransaction): void {
    const expiring = toExpiring(transaction);
    if (expiring) this.#listOf(transaction).remove(expiring);
  }

  /** Returns the transactions that are expired at the head, the earliest first. */
  expired(context: ExpirationContext): SealedTransaction[] {
    return [this.#byHeight, this.#byTimestamp].flatMap((list) => expiredOf(list.values(), context));
  }

  #listOf({ data }: SealedTransaction): SortedList<Expiring> {
    return data.version === 2 ? this.#byHeight : this.#byTimestamp;
  }
}

/** Undefined if the transaction never expires. */
function toExpiring(transaction: SealedTransaction): Expiring | undefined {
  const { version, expiration, timestamp } = transaction.data;
  const at = version === 2 ? expiration || undefined : timestamp;
  return at === undefined ? undefined : { at, transaction };
}

function expiredOf(ascending: Iterable<Expiring>, context: ExpirationContext): SealedTransaction[] {
  const expired: SealedTransaction[] = [];
  for (const { transaction } of ascending) {
    if (!isExpired(expirationHeight(transaction.data, context), context.currentHeight)) break;
    expired.push(transaction);
  }
  return expired;
}

function isEarlier(left: Expiring, right: Expiring): boolean {
  return left.at === right.at ? left.transaction.data.id < right.transaction.data.id : left.at < right.at;
}
