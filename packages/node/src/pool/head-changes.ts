/** Keeps the pool up to date with the head of the chain: applied and reverted blocks, expirations, milestones. */
import type { Milestone, SealedTransaction, TransactionContext } from "@uniknode/protocol";
import type { PoolStore } from "../store/node/pool.ts";
import type { Contents } from "./contents/contents.ts";
import type { Journal } from "./contents/journal.ts";
import type { Pending } from "./contents/pending.ts";
import type { Senders } from "./contents/senders.ts";
import { readAdmitted, readUnchecked } from "./contents/stored.ts";
import { type ExpirationContext, expirationHeight, isExpired } from "./expiration.ts";
import type { PoolOptions } from "./options.ts";
import type { SelectionDeps } from "./selection.ts";

/** The pending transactions, and the head for which they are valid. */
export type HeadState = {
  readonly options: Pick<PoolOptions, "maxTransactionAge">;
  readonly deps: HeadDeps;
  readonly pending: Pending;
  readonly senders: Senders;
  readonly contents: Contents;
  /** The milestone under which every pending transaction was read. */
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

const transactionContext = ({ network, head }: HeadDeps): TransactionContext => ({
  network,
  height: head().height,
});

/** See `Pool.blockApplied`. */
export function blockApplied(
  current: HeadState,
  transactions: readonly SealedTransaction[],
  addresses: ReadonlySet<string>,
): void {
  const { pending, senders, contents } = current;
  const included = transactions.flatMap(({ data }) => pending.get(data.id) ?? []);
  const changed = [...addresses].flatMap((address) => senders.publicKeyOf(address) ?? []);
  contents.remove(included, "transaction.pool.removed", changed);
  applyHeadRules(current);
}

/** See `Pool.blocksReverted`. */
export function blocksReverted(current: HeadState, transactions: readonly SealedTransaction[]): void {
  const { pending, contents, deps } = current;
  const context = transactionContext(deps);
  const returned = transactions.flatMap(({ data, bytes }) => readAdmitted(data.id, bytes, context) ?? []);
  const waiting = [...pending.all()];
  contents.replace(waiting, [...returned, ...waiting]);
  applyHeadRules(current);
}

/** Fills the pool with the stored transactions that are still valid, and removes the others from disk. */
export function restore(current: HeadState, store: PoolStore, journal: Journal): void {
  const { contents, deps } = current;
  const rows = store.load();
  const forged = deps.storedIds(rows.map(({ id }) => id));
  const before: SealedTransaction[] = [];
  const usable: SealedTransaction[] = [];
  for (const { id, bytes } of rows) {
    journal.removed(id);
    const admitted = readAdmitted(id, bytes, transactionContext(deps));
    const transaction = admitted ?? readUnchecked(id, bytes);
    if (transaction) before.push(transaction);
    if (admitted && !forged.has(id)) usable.push(admitted);
  }
  contents.replace(before, usable);
  applyHeadRules(current);
  journal.flush();
}

/** Removes transactions that a new height expires, and types that a new milestone does not allow. */
function applyHeadRules(current: HeadState): void {
  const { pending, contents, deps } = current;
  const expiration = expirationContext(current);
  const isPastExpiration = ({ data }: SealedTransaction) =>
    isExpired(expirationHeight(data, expiration), expiration.currentHeight);
  contents.remove(withLater(pending, isPastExpiration), "transaction.expired");
  const milestone = milestoneAtHead(deps);
  if (milestone === current.milestone) return;
  current.milestone = milestone;
  const context = transactionContext(deps);
  const isOutdated = ({ data, bytes }: SealedTransaction) =>
    readAdmitted(data.id, bytes, context) === undefined;
  contents.remove(withLater(pending, isOutdated), "transaction.pool.removed", [...pending.senders()]);
}

/** The transactions that satisfy a test, and the later ones of the same senders; highest nonces first. */
function withLater(pending: Pending, test: (transaction: SealedTransaction) => boolean): SealedTransaction[] {
  return [...pending.senders()].flatMap((sender) => {
    const transactions = pending.ofSender(sender);
    const first = transactions.findIndex(test);
    return first < 0 ? [] : transactions.slice(first).reverse();
  });
}
