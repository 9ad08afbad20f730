/** Checks the pending transactions of a sender, and dependents, after a change of the chain (pool.md 6 and 10). */
import {
  recheckTransaction,
  type SealedTransaction,
  type TransactionContext,
  transactionFromBytes,
  verifySignature,
} from "@uniknode/protocol";
import type { Steps } from "../platform/threads/time-slices.ts";
import type { Contents, RemovalEvent } from "./contents/contents.ts";
import type { Pending } from "./contents/pending.ts";
import { type ExpirationContext, expirationHeight, isExpired } from "./contents/pending.ts";
import type { Senders } from "./contents/senders.ts";
import { createTrial, type TrialDeps } from "./selection.ts";

export type SenderCheckDeps = {
  readonly pending: Pending;
  readonly senders: Senders;
  readonly contents: Contents;
  /** Returns the rules in force at the head. */
  readonly context: () => TransactionContext;
  readonly expirationContext: () => ExpirationContext;
  /** Returns the ids that are in a stored block. */
  readonly storedIds: (ids: readonly string[]) => ReadonlySet<string>;
  readonly trial: TrialDeps;
};

/**
 * Removes the transactions of a sender that do not apply, then from the first expired one on, then from the first one on
 * that the milestone does not allow; a transaction in each step. A change of the sender's transactions ends the use of the
 * steps.
 *
 * @param isOutdated true if the transactions were read under another milestone
 */
export function* checkSender(sender: string, isOutdated: boolean, deps: SenderCheckDeps): Steps<void> {
  yield* readReturned(deps, sender);
  yield* rebuildView(deps, sender);
  yield* removeExpired(deps, sender);
  if (isOutdated) yield* removeOutdated(deps, sender);
}

/**
 * Removes the dependents that do not apply on the chain after the others in the line; a transaction in each step. A change
 * of the line ends the use of the steps.
 */
export function* checkDependents({ contents, trial }: SenderCheckDeps): Steps<void> {
  const applies = createTrial(trial, true);
  for (const transaction of contents.line()) {
    if (!applies(transaction) && contents.isDependent(transaction.data.id)) {
      contents.remove(transaction, "transaction.pool.removed");
    }
    yield;
  }
}

/** The transactions of reverted blocks were read without the rules of the pool, and another branch can contain them. */
function* readReturned(
  { pending, contents, context, storedIds }: SenderCheckDeps,
  sender: string,
): Steps<void> {
  const returned = pending.ofSender(sender).filter(({ data }) => contents.isReturned(data.id));
  for (const transaction of returned) {
    const { id } = transaction.data;
    const isIncluded = storedIds([id]).has(id);
    const admitted = isIncluded ? undefined : readAdmitted(id, transaction.bytes, context());
    if (admitted) pending.update(admitted);
    else if (isIncluded) contents.removeIncluded(transaction);
    else contents.remove(transaction, "transaction.pool.removed");
    yield;
  }
}

/** Reads an admitted transaction again; undefined if the bytes are another one, or one that the milestone does not allow. */
function readAdmitted(
  id: string,
  bytes: Uint8Array,
  context: TransactionContext,
): SealedTransaction | undefined {
  try {
    const transaction = transactionFromBytes(bytes, context, { checkSignature: false });
    if (transaction.data.id !== id) return undefined;
    // Without the signatures of a multisignature wallet, it was admitted by its own signature.
    const isVerified = transaction.data.signatures === undefined || verifySignature(transaction.data);
    return { ...transaction, isVerified };
  } catch {
    return undefined;
  }
}

/** Removes the transactions that no longer apply, unless they can be dependents. */
function* rebuildView({ pending, senders, contents }: SenderCheckDeps, sender: string): Steps<void> {
  senders.rebuild(sender, []);
  for (const transaction of [...pending.ofSender(sender)]) {
    if (senders.apply(transaction) === undefined) contents.accept(transaction.data.id);
    else if (!contents.postpone(transaction)) contents.remove(transaction, "transaction.pool.removed");
    yield;
  }
}

function* removeExpired(deps: SenderCheckDeps, sender: string): Steps<void> {
  const context = deps.expirationContext();
  const first = deps.pending
    .ofSender(sender)
    .findIndex(({ data }) => isExpired(expirationHeight(data, context), context.currentHeight));
  if (first >= 0) yield* removeFrom(deps, sender, first, "transaction.expired");
}

function* removeOutdated(deps: SenderCheckDeps, sender: string): Steps<void> {
  for (const [index, transaction] of deps.pending.ofSender(sender).entries()) {
    if (!isReadable(transaction, deps.context())) {
      yield* removeFrom(deps, sender, index, "transaction.pool.removed");
      return;
    }
    yield;
  }
}

function isReadable(transaction: SealedTransaction, context: TransactionContext): boolean {
  try {
    recheckTransaction(transaction, context);
    return true;
  } catch {
    return false;
  }
}

/** Removes a transaction and the later ones of its sender, the highest nonce first. */
function* removeFrom(deps: SenderCheckDeps, sender: string, first: number, name: RemovalEvent): Steps<void> {
  for (const transaction of deps.pending.ofSender(sender).slice(first).reverse()) {
    deps.contents.remove(transaction, name);
    yield;
  }
  yield* rebuildView(deps, sender);
}
