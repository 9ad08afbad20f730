/** Index of the pending transactions by id, by sender and nonce, by fee, and by expiration (pool.md 8). */
import type { SealedTransaction } from "@uniknode/protocol";
import { createExpirations, type ExpirationContext, type Expirations } from "./expiration.ts";
import { createSortedList, type SortedList } from "./sorted-list.ts";

/** Order of arrival of an added transaction: after all others, or before them. */
export type Place = "last" | "first";

export type Pending = {
  size(): number;
  /** Serialized bytes of all transactions. */
  byteLength(): number;
  has(id: string): boolean;
  get(id: string): SealedTransaction | undefined;
  add(transaction: SealedTransaction, place?: Place): void;
  /** Replaces a transaction by the same one, read again. Its order of arrival stays. */
  update(transaction: SealedTransaction): void;
  remove(id: string): void;
  all(): IteratorObject<SealedTransaction>;
  /**
   * Returns the transactions of a sender by nonce, lowest first. The list is live: copy it before
   * transactions are removed.
   */
  ofSender(senderPublicKey: string): readonly SealedTransaction[];
  senders(): Iterable<string>;
  /** Returns the transactions that are expired at the head. */
  expired(context: ExpirationContext): SealedTransaction[];
  /** Returns the transactions in forging order, at least `limit` if there are as many. */
  inForgingOrder(limit?: number): SealedTransaction[];
  /**
   * Iterates like `inForgingOrder` over the transactions of some senders. The pool must not change meanwhile.
   *
   * @param isLeftOut returns true for a sender whose transactions are left out
   */
  candidates(limit: number, isLeftOut: IsLeftOut): Iterable<SealedTransaction>;
  /** The transaction to evict first when the pool is full: the cheapest one on which no other one builds. */
  evictionCandidate(exceptSender?: string): SealedTransaction | undefined;
};

type IsLeftOut = (senderPublicKey: string) => boolean;

type Entry = { transaction: SealedTransaction; readonly arrival: number };

const NONE: readonly SealedTransaction[] = [];

type State = {
  readonly byId: Map<string, Entry>;
  readonly bySender: Map<string, SealedTransaction[]>;
  /** Highest fee first, equal fees in order of arrival. */
  readonly byFee: SortedList<Entry>;
  readonly expirations: Expirations;
  /** The complete forging order, cached until something changes: clients request it page by page. */
  order: SealedTransaction[] | undefined;
  nextArrival: number;
  firstArrival: number;
  byteLength: number;
};

export function createPending(): Pending {
  const state: State = {
    byId: new Map(),
    bySender: new Map(),
    byFee: createSortedList(isBefore),
    expirations: createExpirations(),
    order: undefined,
    nextArrival: 0,
    firstArrival: 0,
    byteLength: 0,
  };
  const { byId, bySender } = state;
  return {
    size: () => byId.size,
    byteLength: () => state.byteLength,
    has: (id) => byId.has(id),
    get: (id) => byId.get(id)?.transaction,
    add: (transaction, place) => add(state, transaction, place),
    update: (transaction) => update(state, transaction),
    remove: (id) => remove(state, id),
    all: () => byId.values().map(({ transaction }) => transaction),
    ofSender: (senderPublicKey) => bySender.get(senderPublicKey) ?? NONE,
    senders: () => bySender.keys(),
    expired: state.expirations.expired,
    inForgingOrder: (limit) => inForgingOrder(state, limit),
    candidates: (limit, isLeftOut) => placeInOrder(state, limit, isLeftOut),
    evictionCandidate: (exceptSender) => evictionCandidate(state, exceptSender),
  };
}

function add(state: State, transaction: SealedTransaction, place: Place = "last"): void {
  state.order = undefined;
  const entry = { transaction, arrival: place === "last" ? state.nextArrival++ : --state.firstArrival };
  const { id, senderPublicKey } = transaction.data;
  state.byId.set(id, entry);
  state.byFee.insert(entry);
  state.expirations.add(transaction);
  state.byteLength += transaction.bytes.length;
  const siblings = state.bySender.get(senderPublicKey);
  if (siblings) siblings.splice(indexAmong(siblings, transaction, place), 0, transaction);
  else state.bySender.set(senderPublicKey, [transaction]);
}

/** Equal nonces are in order of arrival. */
function indexAmong(siblings: readonly SealedTransaction[], added: SealedTransaction, place: Place): number {
  const nonce = nonceOf(added);
  if (place === "last") return siblings.findLastIndex((other) => nonceOf(other) <= nonce) + 1;
  const next = siblings.findIndex((other) => nonceOf(other) >= nonce);
  return next < 0 ? siblings.length : next;
}

function update(state: State, transaction: SealedTransaction): void {
  const { id, senderPublicKey } = transaction.data;
  const entry = state.byId.get(id);
  const siblings = state.bySender.get(senderPublicKey);
  if (!entry || !siblings) return;
  state.order = undefined;
  siblings[siblings.indexOf(entry.transaction)] = transaction;
  entry.transaction = transaction;
}

function remove(state: State, id: string): void {
  const entry = state.byId.get(id);
  if (!entry) return;
  const { transaction } = entry;
  state.order = undefined;
  state.byId.delete(id);
  state.byFee.remove(entry);
  state.expirations.remove(transaction);
  state.byteLength -= transaction.bytes.length;
  const { senderPublicKey } = transaction.data;
  const siblings = state.bySender.get(senderPublicKey);
  siblings?.splice(siblings.indexOf(transaction), 1);
  if (siblings?.length === 0) state.bySender.delete(senderPublicKey);
}

function inForgingOrder(state: State, limit = Number.POSITIVE_INFINITY): SealedTransaction[] {
  if (limit < state.byId.size) return [...placeInOrder(state, limit)];
  state.order ??= [...placeInOrder(state, limit)];
  return [...state.order];
}

function* placeInOrder(
  { byFee, bySender }: State,
  limit: number,
  isLeftOut: IsLeftOut = () => false,
): Iterable<SealedTransaction> {
  const placed = new Set<SealedTransaction>();
  /** Number of each sender's transactions, from the lowest nonce, that are placed with a later one. */
  const pulled = new Map<string, number>();
  for (const { transaction } of byFee.values()) {
    if (placed.size >= limit) break;
    const { nonce, senderPublicKey } = transaction.data;
    if (placed.has(transaction) || isLeftOut(senderPublicKey)) continue;
    // A later transaction with a high fee also places the earlier ones of its sender; version 1 has no nonces.
    if (nonce !== undefined) {
      const siblings = bySender.get(senderPublicKey) ?? NONE;
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

function evictionCandidate(
  { byFee, bySender }: State,
  exceptSender: string | undefined,
): SealedTransaction | undefined {
  for (const { transaction } of byFee.reversed()) {
    const { senderPublicKey } = transaction.data;
    if (senderPublicKey !== exceptSender && bySender.get(senderPublicKey)?.at(-1) === transaction)
      return transaction;
  }
  return undefined;
}

function isBefore(left: Entry, right: Entry): boolean {
  const [a, b] = [left.transaction.data.fee, right.transaction.data.fee];
  return a === b ? left.arrival < right.arrival : a > b;
}

/** Version 1 has no nonce: it stays in order of arrival. */
const nonceOf = ({ data }: SealedTransaction): bigint => data.nonce ?? 0n;
