/** Index of the pending transactions by id, by sender and nonce, and by fee (pool.md 8). */
import { mintedTokenId } from "@uniknode/ledger";
import type { SealedTransaction } from "@uniknode/protocol";
import { createSortedList, type SortedList } from "./sorted-list.ts";

export type Pending = {
  size(): number;
  /** Serialized bytes of all transactions. */
  byteLength(): number;
  has(id: string): boolean;
  get(id: string): SealedTransaction | undefined;
  add(transaction: SealedTransaction): void;
  remove(id: string): void;
  /** Returns all transactions in order of arrival. */
  all(): IteratorObject<SealedTransaction>;
  /**
   * Returns the transactions of a sender by nonce, lowest first. The list is live: copy it before
   * transactions are removed.
   */
  ofSender(senderPublicKey: string): readonly SealedTransaction[];
  senders(): Iterable<string>;
  /** Public key of the sender whose pending transaction mints this token. */
  minterOf(tokenId: string): string | undefined;
  /** Returns the transactions in forging order, at least `limit` if there are as many. */
  inForgingOrder(limit?: number): SealedTransaction[];
  /** The transaction to evict first when the pool is full: the cheapest one on which no other one builds. */
  evictionCandidate(exceptSender?: string): SealedTransaction | undefined;
};

type Entry = { readonly transaction: SealedTransaction; readonly arrival: number };

const NONE: readonly SealedTransaction[] = [];

type State = {
  readonly byId: Map<string, Entry>;
  readonly bySender: Map<string, SealedTransaction[]>;
  /** Highest fee first, equal fees in order of arrival. */
  readonly byFee: SortedList<Entry>;
  /** Sender by id of the token; at most one pending transaction mints it. */
  readonly minters: Map<string, string>;
  /** The complete forging order, cached until something changes: clients request it page by page. */
  order: SealedTransaction[] | undefined;
  nextArrival: number;
  byteLength: number;
};

export function createPending(): Pending {
  const state: State = {
    byId: new Map(),
    bySender: new Map(),
    byFee: createSortedList(isBefore),
    minters: new Map(),
    order: undefined,
    nextArrival: 0,
    byteLength: 0,
  };
  const { byId, bySender, minters } = state;
  return {
    size: () => byId.size,
    byteLength: () => state.byteLength,
    has: (id) => byId.has(id),
    get: (id) => byId.get(id)?.transaction,
    add: (transaction) => add(state, transaction),
    remove: (id) => remove(state, id),
    all: () => byId.values().map(({ transaction }) => transaction),
    ofSender: (senderPublicKey) => bySender.get(senderPublicKey) ?? NONE,
    senders: () => bySender.keys(),
    minterOf: (tokenId) => minters.get(tokenId),
    inForgingOrder: (limit) => inForgingOrder(state, limit),
    evictionCandidate: (exceptSender) => evictionCandidate(state, exceptSender),
  };
}

function add(state: State, transaction: SealedTransaction): void {
  state.order = undefined;
  const entry = { transaction, arrival: state.nextArrival++ };
  const { id, senderPublicKey } = transaction.data;
  state.byId.set(id, entry);
  state.byFee.insert(entry);
  state.byteLength += transaction.bytes.length;
  const minted = mintedTokenId(transaction.data);
  if (minted !== undefined) state.minters.set(minted, senderPublicKey);
  const siblings = state.bySender.get(senderPublicKey);
  if (!siblings) {
    state.bySender.set(senderPublicKey, [transaction]);
    return;
  }
  const last = siblings.findLastIndex((other) => nonceOf(other) <= nonceOf(transaction));
  siblings.splice(last + 1, 0, transaction);
}

function remove(state: State, id: string): void {
  const entry = state.byId.get(id);
  if (!entry) return;
  const { transaction } = entry;
  state.order = undefined;
  state.byId.delete(id);
  state.byFee.remove(entry);
  state.byteLength -= transaction.bytes.length;
  const { senderPublicKey } = transaction.data;
  const minted = mintedTokenId(transaction.data);
  if (minted !== undefined) state.minters.delete(minted);
  const siblings = state.bySender.get(senderPublicKey);
  siblings?.splice(siblings.indexOf(transaction), 1);
  if (siblings?.length === 0) state.bySender.delete(senderPublicKey);
}

function inForgingOrder(state: State, limit = Number.POSITIVE_INFINITY): SealedTransaction[] {
  if (limit < state.byId.size) return placeInOrder(state, limit);
  state.order ??= placeInOrder(state, limit);
  return [...state.order];
}

function placeInOrder({ byFee, bySender }: State, limit: number): SealedTransaction[] {
  const placed = new Set<SealedTransaction>();
  /** Number of each sender's transactions, from the lowest nonce, that are placed with a later one. */
  const pulled = new Map<string, number>();
  for (const { transaction } of byFee.values()) {
    if (placed.size >= limit) break;
    if (placed.has(transaction)) continue;
    const { nonce, senderPublicKey } = transaction.data;
    // A later transaction with a high fee also places the earlier ones of its sender; version 1 has no nonces.
    if (nonce !== undefined) {
      const siblings = bySender.get(senderPublicKey) ?? NONE;
      let next = pulled.get(senderPublicKey) ?? 0;
      for (let sibling = siblings[next]; sibling && nonceOf(sibling) < nonce; sibling = siblings[++next]) {
        placed.add(sibling);
      }
      pulled.set(senderPublicKey, next);
    }
    placed.add(transaction);
  }
  return [...placed];
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
