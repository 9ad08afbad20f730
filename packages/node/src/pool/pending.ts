/** The pending transactions themselves: by id, by sender and nonce, and by fee (pool.md section 8). */
import type { SealedTransaction } from "@uniknode/protocol";

export type Pending = {
  readonly size: () => number;
  has(id: string): boolean;
  get(id: string): SealedTransaction | undefined;
  add(transaction: SealedTransaction): void;
  remove(id: string): void;
  /** By nonce, lowest first. */
  ofSender(senderPublicKey: string): readonly SealedTransaction[];
  senders(): Iterable<string>;
  /** In the order offered for forging; `limit` is a lower bound on what is returned. */
  inForgingOrder(limit?: number): SealedTransaction[];
  /** What leaves first when the pool is full: a cheap transaction on which no other one builds. */
  evictionCandidate(): SealedTransaction | undefined;
};

/** How many of the cheapest transactions are examined for eviction before any last one of a sender will do. */
const EVICTION_WINDOW = 100;

type Entry = { readonly transaction: SealedTransaction; readonly arrival: number };

export function createPending(): Pending {
  const byId = new Map<string, Entry>();
  const bySender = new Map<string, SealedTransaction[]>();
  /** Highest fee first, equal fees in order of arrival. */
  const byFee: Entry[] = [];
  let arrivals = 0;

  const ofSender = (senderPublicKey: string) => bySender.get(senderPublicKey) ?? [];

  function add(transaction: SealedTransaction): void {
    const entry = { transaction, arrival: arrivals++ };
    const { id, senderPublicKey } = transaction.data;
    byId.set(id, entry);
    byFee.splice(feePosition(entry), 0, entry);
    const siblings = [...ofSender(senderPublicKey), transaction];
    bySender.set(senderPublicKey, siblings.sort(byNonce));
  }

  function remove(id: string): void {
    const entry = byId.get(id);
    if (!entry) return;
    byId.delete(id);
    byFee.splice(feePosition(entry), 1);
    const { senderPublicKey } = entry.transaction.data;
    const rest = ofSender(senderPublicKey).filter(({ data }) => data.id !== id);
    if (rest.length > 0) bySender.set(senderPublicKey, rest);
    else bySender.delete(senderPublicKey);
  }

  /** Where the entry stands in `byFee`, or would. */
  function feePosition(entry: Entry): number {
    let [low, high] = [0, byFee.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(byFee[middle]!, entry)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function inForgingOrder(limit = Number.POSITIVE_INFINITY): SealedTransaction[] {
    const placed = new Set<SealedTransaction>();
    for (const { transaction } of byFee) {
      if (placed.size >= limit) break;
      if (placed.has(transaction)) continue;
      const { nonce, senderPublicKey } = transaction.data;
      // A high fee late in a sender's chain pulls the earlier transactions up.
      for (const sibling of nonce === undefined ? [] : ofSender(senderPublicKey)) {
        if (nonce !== undefined && (sibling.data.nonce ?? nonce) < nonce) placed.add(sibling);
      }
      placed.add(transaction);
    }
    return [...placed];
  }

  function evictionCandidate(): SealedTransaction | undefined {
    const isLast = (transaction: SealedTransaction) =>
      ofSender(transaction.data.senderPublicKey).at(-1) === transaction;
    const cheapest = byFee.slice(-EVICTION_WINDOW).reverse();
    return (
      cheapest.find(({ transaction }) => isLast(transaction)) ?? byFee.findLast((e) => isLast(e.transaction))
    )?.transaction;
  }

  return {
    size: () => byId.size,
    has: (id) => byId.has(id),
    get: (id) => byId.get(id)?.transaction,
    add,
    remove,
    ofSender,
    senders: () => bySender.keys(),
    inForgingOrder,
    evictionCandidate,
  };
}

function isBefore(left: Entry, right: Entry): boolean {
  const [a, b] = [left.transaction.data.fee, right.transaction.data.fee];
  return a === b ? left.arrival < right.arrival : a > b;
}

function byNonce(left: SealedTransaction, right: SealedTransaction): number {
  const [a, b] = [left.data.nonce ?? 0n, right.data.nonce ?? 0n];
  return a < b ? -1 : a > b ? 1 : 0;
}
