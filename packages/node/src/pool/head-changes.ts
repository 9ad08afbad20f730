/**
 * Keeps the pool up to date with the head of the chain: applied and reverted blocks, expirations, milestones. What a change
 * invalidates is found by a recheck of the senders that it concerns.
 */
import {
  type Milestone,
  type SealedTransaction,
  sealedFromTrustedBytes,
  type TransactionContext,
} from "@uniknode/protocol";
import type { PoolStore } from "../store/node/pool.ts";
import type { Contents } from "./contents/contents.ts";
import type { ExpirationContext } from "./contents/expiration.ts";
import type { Journal } from "./contents/journal.ts";
import type { Pending } from "./contents/pending.ts";
import type { Senders } from "./contents/senders.ts";
import type { PoolOptions } from "./options.ts";
import type { Recheck } from "./recheck.ts";
import type { SelectionDeps } from "./selection.ts";

/** The pending transactions, and the head for which they are valid. */
export type HeadState = {
  readonly options: Pick<PoolOptions, "maxTransactionAge">;
  readonly deps: HeadDeps;
  readonly pending: Pending;
  readonly senders: Senders;
  readonly contents: Contents;
  readonly recheck: Recheck;
  /** The milestone under which every pending transaction was read, or waits to be read. */
  milestone: Milestone;
};

export type HeadDeps = Omit<SelectionDeps, "isTooLate"> & {
  /** Network time in seconds. */
  readonly now: () => number;
  /** Returns the ids that are in a stored block. */
  readonly storedIds: (ids: readonly string[]) => ReadonlySet<string>;
};

export const milestoneAtHead = ({ network, head }: Pick<HeadDeps, "network" | "head">): Milestone =>
  network.milestoneAt(head().height);

export const expirationContext = ({
  options,
  deps,
}: Pick<HeadState, "options" | "deps">): ExpirationContext => ({
  blockTime: deps.network.milestoneAt(1).blocktime,
  currentHeight: deps.head().height,
  now: deps.now(),
  maxTransactionAge: options.maxTransactionAge,
});

export const transactionContext = ({
  network,
  head,
}: Pick<HeadDeps, "network" | "head">): TransactionContext => ({
  network,
  height: head().height,
});

/** See `Pool.blockApplied`. */
export function blockApplied(
  current: HeadState,
  transactions: readonly SealedTransaction[],
  addresses: ReadonlySet<string>,
): void {
  const { pending, senders, contents, recheck } = current;
  const included = transactions.flatMap(({ data }) => pending.get(data.id) ?? []);
  const changed = [...addresses].flatMap((address) => senders.publicKeyOf(address) ?? []);
  for (const transaction of included) contents.removeIncluded(transaction);
  recheck.mark([...changed, ...sendersOf(included), ...contents.dependentSenders()]);
  markByHeadRules(current);
  recheck.run();
}

/** See `Pool.blocksReverted`. */
export function blocksReverted(current: HeadState, transactions: readonly SealedTransaction[]): void {
  const { pending, contents, recheck } = current;
  contents.addReturned(transactions);
  recheck.mark([...sendersOf(transactions), ...pending.senders()]);
  markByHeadRules(current);
  recheck.run();
}

const sendersOf = (transactions: readonly SealedTransaction[]): string[] =>
  transactions.map(({ data }) => data.senderPublicKey);

/** Fills the pool with the stored transactions that are still valid, and removes the others from disk. */
export function restore(current: HeadState, store: PoolStore, journal: Journal): void {
  const { pending, contents, recheck, deps } = current;
  const rows = store.load();
  const forged = deps.storedIds(rows.map(({ id }) => id));
  const stored: SealedTransaction[] = [];
  for (const { id, bytes } of rows) {
    const transaction = readUnchecked(id, bytes);
    if (transaction && !forged.has(id)) {
      stored.push(transaction);
      continue;
    }
    journal.removed(id);
    if (transaction) contents.reportRemoval(transaction, "transaction.pool.removed");
  }
  contents.addStored(stored);
  recheck.mark(pending.senders());
  markByHeadRules(current);
  recheck.finish();
  journal.flush();
}

/** The transaction without a check of the milestone; undefined if the bytes are another one, or none. */
function readUnchecked(id: string, bytes: Uint8Array): SealedTransaction | undefined {
  try {
    const transaction = sealedFromTrustedBytes(bytes);
    return transaction.data.id === id ? transaction : undefined;
  } catch {
    return undefined;
  }
}

/** Marks the senders of transactions that the height expires, and all senders if the milestone is another one. */
function markByHeadRules(current: HeadState): void {
  const { pending, recheck, deps } = current;
  recheck.mark(sendersOf(pending.expired(expirationContext(current))));
  const milestone = milestoneAtHead(deps);
  if (milestone === current.milestone) return;
  current.milestone = milestone;
  recheck.mark(pending.senders(), true);
}
