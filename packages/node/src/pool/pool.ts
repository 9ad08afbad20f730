/** The pool of pending transactions (pool.md). */
import { applyTransaction, createDraft, RuleError, type StateReader } from "@uniknode/ledger";
import {
  addressFromPublicKey,
  type Network,
  type SealedTransaction,
  sealedFromTrustedBytes,
  transactionFromJson,
  transactionToJson,
} from "@uniknode/protocol";
import type { AdmissionAnswer } from "../serving/gateway.ts";
import type { PoolStore } from "../store/pool.ts";
import { type AdmissionOptions, type Judgement, judgeCandidates } from "./admission.ts";
import { candidateFrom } from "./candidate.ts";
import type { PoolEvent, Rejected } from "./events.ts";
import { expirationHeight, isExpired } from "./expiration.ts";
import { createJournal } from "./journal.ts";
import { createPending } from "./pending.ts";
import { createRecentIds } from "./recentIds.ts";
import type { RefusalCode } from "./refusal.ts";
import { createSenders } from "./senders.ts";

export type PoolOptions = AdmissionOptions & {
  maxTransactions: number;
};

export type PoolDeps = {
  network: Network;
  /** State at the head. */
  state: StateReader;
  /** The last accepted block; timestamp in seconds since the network epoch. */
  head: () => { height: number; timestamp: number };
  /** Network time in seconds. */
  now: () => number;
  isMultiSigned: (transaction: SealedTransaction) => boolean;
  /** Which of these ids are in a stored block. */
  storedIds: (ids: readonly string[]) => ReadonlySet<string>;
  store: PoolStore;
  emit: (event: PoolEvent) => void;
};

export type Pool = {
  /** Takes what it can of one request; the answer comes when it is on disk. */
  submit(inputs: readonly unknown[]): Promise<AdmissionAnswer>;
  size(): number;
  get(id: string): SealedTransaction | undefined;
  inForgingOrder(limit?: number): SealedTransaction[];
  /** Transactions for the next block, in order; those that no longer apply leave the pool (pool.md section 9). */
  select(limits: { maxTransactions: number; maxBytes: number }): SealedTransaction[];
  /** A block became the head; `addresses` are the wallets that it changed. */
  blockApplied(transactions: readonly SealedTransaction[], addresses: ReadonlySet<string>): void;
  /** Blocks were reverted; their transactions, oldest first, come back before those that were pending. */
  blocksReverted(transactions: readonly SealedTransaction[]): void;
  /** Writes what is outstanding. */
  close(): void;
};

/** How many times the wanted number of transactions are tried for a block. */
const SELECTION_FACTOR = 10;

/** The pool with what was pending when it was closed last. */
export function createPool(options: PoolOptions, deps: PoolDeps): Pool {
  const pending = createPending();
  const senders = createSenders(deps);
  const journal = createJournal(deps.store);
  const recentIds = createRecentIds();
  const blockTime = deps.network.milestoneAt(1).blocktime;

  async function submit(inputs: readonly unknown[]): Promise<AdmissionAnswer> {
    // Stage A: ids seen lately, whatever became of them
    const [fresh, repeated] = recentIds.partition(inputs, (input) => candidateFrom(input).id);
    const judgement: Judgement = judgeCandidates(fresh, options, { ...deps, pending });
    const refused = [
      ...repeated.map((input) => ({
        id: candidateFrom(input).id,
        code: "ERR_DUPLICATE" as const,
        message: "Already in cache.",
      })),
      ...judgement.refused,
    ];
    // Stage C: already forged
    const known = [...new Set([...judgement.accept, ...judgement.broadcast])];
    const stored = deps.storedIds(known.map(({ data }) => data.id));
    const isNew = ({ data }: SealedTransaction) => !stored.has(data.id);
    for (const id of stored) refused.push({ id, code: "ERR_FORGED", message: "Already forged." });
    // Stage D: insertion
    const { added, rejected } = insert(judgement.accept.filter(isNew));
    for (const { transaction, code, message } of rejected)
      refused.push({ id: transaction.data.id, code, message });
    const unsent = new Set(rejected.filter(({ code }) => code !== "ERR_POOL_FULL").map((r) => r.transaction));
    const broadcast = judgement.broadcast.filter(
      (transaction) => isNew(transaction) && !unsent.has(transaction),
    );
    if (added.length > 0) deps.emit({ name: "transaction.pool.added", transactions: added });
    if (rejected.length > 0) deps.emit({ name: "transaction.pool.rejected", rejected });
    if (added.length > 0) await journal.flushed();
    return answerOf(added, broadcast, judgement.excess, refused);
  }

  function insert(transactions: readonly SealedTransaction[]) {
    const added: SealedTransaction[] = [];
    const rejected: Rejected[] = [];
    for (const transaction of transactions) {
      const refusal = insertOne(transaction);
      if (refusal) rejected.push({ transaction, ...refusal });
      else added.push(transaction);
    }
    return { added, rejected };
  }

  function insertOne(transaction: SealedTransaction): { code: RefusalCode; message: string } | undefined {
    if (pending.has(transaction.data.id)) return { code: "ERR_ALREADY_IN_POOL", message: "Already in pool" };
    const evicted = pending.size() >= options.maxTransactions ? pending.evictionCandidate() : undefined;
    if (evicted && evicted.data.fee >= transaction.data.fee) {
      const message =
        `Pool is full (has ${pending.size()} transactions) and this transaction's fee ${transaction.data.fee} ` +
        `is not higher than the lowest fee already in pool ${evicted.data.fee}`;
      return { code: "ERR_POOL_FULL", message };
    }
    try {
      senders.apply(transaction);
    } catch (error) {
      if (error instanceof RuleError) return { code: "ERR_APPLY", message: error.message };
      throw error;
    }
    if (evicted) removeAll([evicted], "transaction.pool.removed");
    pending.add(transaction);
    journal.added(transaction);
    return undefined;
  }

  /** Takes transactions out and brings the views of their senders up to date. */
  function removeAll(
    transactions: readonly SealedTransaction[],
    name: "transaction.pool.removed" | "transaction.expired",
  ): void {
    const affected = new Set<string>();
    for (const transaction of transactions) {
      if (!pending.has(transaction.data.id)) continue;
      pending.remove(transaction.data.id);
      journal.removed(transaction.data.id);
      affected.add(transaction.data.senderPublicKey);
      deps.emit({ name, transaction });
    }
    for (const sender of affected) rebuild(sender);
  }

  function rebuild(sender: string): void {
    removeAll(senders.rebuild(sender, pending.ofSender(sender)), "transaction.pool.removed");
  }

  function select({ maxTransactions, maxBytes }: { maxTransactions: number; maxBytes: number }) {
    const { network, state } = deps;
    const head = deps.head();
    const draft = createDraft(state);
    const context = { network, milestone: network.milestoneAt(head.height), head, state: draft, draft };
    const selected: SealedTransaction[] = [];
    const failed: SealedTransaction[] = [];
    let bytes = 0;
    for (const transaction of pending.inForgingOrder(maxTransactions * SELECTION_FACTOR)) {
      if (selected.length >= maxTransactions || bytes + transaction.bytes.length > maxBytes) break;
      const mark = draft.mark();
      try {
        applyTransaction(transaction.data, context);
      } catch (error) {
        if (!(error instanceof RuleError)) throw error;
        draft.rollback(mark);
        failed.push(transaction);
        continue;
      }
      selected.push(transaction);
      bytes += transaction.bytes.length;
    }
    removeAll(failed, "transaction.pool.removed");
    return selected;
  }

  function blockApplied(transactions: readonly SealedTransaction[], addresses: ReadonlySet<string>): void {
    recentIds.clear();
    removeAll(
      transactions.flatMap(({ data }) => pending.get(data.id) ?? []),
      "transaction.pool.removed",
    );
    const version = deps.network.description.pubKeyHash;
    for (const sender of [...pending.senders()]) {
      if (addresses.has(addressFromPublicKey(sender, version))) rebuild(sender);
    }
    removeExpired();
    if (deps.network.isMilestone(deps.head().height)) removeOutdated();
  }

  /** Expired transactions, and the later ones of the same senders. */
  function removeExpired(): void {
    const { height } = deps.head();
    const context = {
      blockTime,
      currentHeight: height,
      now: deps.now(),
      maxTransactionAge: options.maxTransactionAge,
    };
    const lapsed = (transaction: SealedTransaction) =>
      isExpired(expirationHeight(transaction.data, context), height);
    removeAll(withLater(lapsed), "transaction.expired");
  }

  /** Transactions that the new milestone's schema refuses, and the later ones of the same senders. */
  function removeOutdated(): void {
    const context = { network: deps.network, height: deps.head().height };
    const isOutdated = ({ data }: SealedTransaction) => {
      try {
        transactionFromJson(transactionToJson(data), context);
        return false;
      } catch {
        return true;
      }
    };
    removeAll(withLater(isOutdated), "transaction.pool.removed");
  }

  function withLater(test: (transaction: SealedTransaction) => boolean): SealedTransaction[] {
    return [...pending.senders()].flatMap((sender) => {
      const transactions = pending.ofSender(sender);
      const first = transactions.findIndex(test);
      return first < 0 ? [] : transactions.slice(first).reverse();
    });
  }

  function blocksReverted(transactions: readonly SealedTransaction[]): void {
    const waiting = [...pending.senders()].flatMap((sender) => pending.ofSender(sender));
    const before = new Map(waiting.map((transaction) => [transaction.data.id, transaction]));
    for (const id of before.keys()) {
      pending.remove(id);
      journal.removed(id);
    }
    senders.clear();
    recentIds.clear();
    insert(transactions);
    insert(waiting);
    for (const [id, transaction] of before) {
      if (!pending.has(id)) deps.emit({ name: "transaction.pool.removed", transaction });
    }
  }

  function restore(): void {
    const rows = deps.store.load();
    const stored = deps.storedIds(rows.map(({ id }) => id));
    for (const { id, bytes } of rows) {
      const isForged = stored.has(id);
      if (isForged || insertOne(sealedFromTrustedBytes(bytes, id)) !== undefined) journal.removed(id);
    }
    journal.flush();
    removeExpired();
  }

  restore();
  return {
    submit,
    size: pending.size,
    get: pending.get,
    inForgingOrder: pending.inForgingOrder,
    select,
    blockApplied,
    blocksReverted,
    close: journal.flush,
  };
}

function answerOf(
  accepted: readonly SealedTransaction[],
  broadcast: readonly SealedTransaction[],
  excess: string[],
  refused: readonly { id: string; code: RefusalCode; message: string }[],
): AdmissionAnswer {
  const errors: Record<string, { type: string; message: string }[]> = {};
  for (const { id, code, message } of refused) {
    errors[id] = [...(errors[id] ?? []), { type: code, message }];
  }
  const idOf = ({ data }: SealedTransaction) => data.id;
  return {
    data: {
      accept: accepted.map(idOf),
      broadcast: broadcast.map(idOf),
      excess,
      invalid: Object.keys(errors),
    },
    ...(refused.length > 0 && { errors }),
  };
}
