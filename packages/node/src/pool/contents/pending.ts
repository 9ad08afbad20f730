/** Index of the pending transactions by id, by sender and nonce, and by fee (pool.md 8). */
import { mintedTokenId } from "@uniknode/ledger";
import type { SealedTransaction } from "@uniknode/protocol";
import { createSortedList } from "./sorted-list.ts";

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

export function createPending(): Pending {
  const byId = new Map<string, Entry>();
  const bySender = new Map<string, SealedTransaction[]>();
  /** Highest fee first, equal fees in order of arrival. */
  const byFee = createSortedList(isBefore);
  /** Sender by id of the token; at most one pending transaction mints it. */
  const minters = new Map<string, string>();
  /** The complete forging order, cached until something changes: clients request it page by page. */
  let order: SealedTransaction[] | undefined;
  let nextArrival = 0;
  let byteLength = 0;

  const ofSender = (senderPublicKey: string) => bySender.get(senderPublicKey) ?? NONE;

  function add(transaction: SealedTransaction): void {
    order = undefined;
    const entry = { transaction, arrival: nextArrival++ };
    const { id, senderPublicKey } = transaction.data;
    byId.set(id, entry);
    byFee.insert(entry);
    byteLength += transaction.bytes.length;
    const minted = mintedTokenId(transaction.data);
    if (minted !== undefined) minters.set(minted, senderPublicKey);
    const siblings = bySender.get(senderPublicKey);
    if (!siblings) bySender.set(senderPublicKey, [transaction]);
    else
      siblings.splice(
        siblings.findLastIndex((other) => nonceOf(other) <= nonceOf(transaction)) + 1,
        0,
        transaction,
      );
  }

  function remove(id: string): void {
    const entry = byId.get(id);
    if (!entry) return;
    order = undefined;
    byId.delete(id);
    byFee.remove(entry);
    byteLength -= entry.transaction.bytes.length;
    const { senderPublicKey } = entry.transaction.data;
    const minted = mintedTokenId(entry.transaction.data);
    if (minted !== undefined) minters.delete(minted);
    const siblings = bySender.get(senderPublicKey)!;
    siblings.splice(siblings.indexOf(entry.transaction), 1);
    if (siblings.length === 0) bySender.delete(senderPublicKey);
  }

  function inForgingOrder(limit = Number.POSITIVE_INFINITY): SealedTransaction[] {
    if (limit < byId.size) return placeInOrder(limit);
    order ??= placeInOrder(limit);
    return [...order];
  }

  function placeInOrder(limit: number): SealedTransaction[] {
    const placed = new Set<SealedTransaction>();
    /** Number of each sender's transactions, from the lowest nonce, that are placed with a later one. */
    const pulled = new Map<string, number>();
    for (const { transaction } of byFee.values()) {
      if (placed.size >= limit) break;
      if (placed.has(transaction)) continue;
      const { nonce, senderPublicKey } = transaction.data;
      // A later transaction with a high fee also places the earlier ones of its sender; version 1 has no nonces.
      if (nonce !== undefined) {
        const siblings = ofSender(senderPublicKey);
        let next = pulled.get(senderPublicKey) ?? 0;
        for (; nonceOf(siblings[next]!) < nonce; next++) placed.add(siblings[next]!);
        pulled.set(senderPublicKey, next);
      }
      placed.add(transaction);
    }
    return [...placed];
  }

  function evictionCandidate(exceptSender?: string): SealedTransaction | undefined {
    for (const { transaction } of byFee.reversed()) {
      const { senderPublicKey } = transaction.data;
      if (senderPublicKey !== exceptSender && ofSender(senderPublicKey).at(-1) === transaction)
        return transaction;
    }
    return undefined;
  }

  return {
    size: () => byId.size,
    byteLength: () => byteLength,
    has: (id) => byId.has(id),
    get: (id) => byId.get(id)?.transaction,
    add,
    remove,
    all: () => byId.values().map(({ transaction }) => transaction),
    ofSender,
    senders: () => bySender.keys(),
    minterOf: (tokenId) => minters.get(tokenId),
    inForgingOrder,
    evictionCandidate,
  };
}

function isBefore(left: Entry, right: Entry): boolean {
  const [a, b] = [left.transaction.data.fee, right.transaction.data.fee];
  return a === b ? left.arrival < right.arrival : a > b;
}

/** Version 1 has no nonce: it stays in order of arrival. */
const nonceOf = ({ data }: SealedTransaction): bigint => data.nonce ?? 0n;
