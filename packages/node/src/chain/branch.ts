/**
 * Switches from the top of the chain to another branch in one database transaction: a reader sees either the
 * old branch or the new one, and a branch that turns out to be invalid was never on the chain (decision 10).
 */
import {
  checkBlock,
  type EncodedBlock,
  type Network,
  type SealedTransaction,
  withVerdicts,
} from "@uniknode/protocol";
import { createBatch, PREFETCHED_PARTS, type PreparedBlock, splitBatch } from "./block-queue.ts";
import type { ChainChange, Outcome } from "./outcome.ts";
import { commitBlocks, type ExecutedBlock } from "./pipeline/commit.ts";
import type { Executor } from "./pipeline/execute.ts";
import { type BlockInput, receiveMade } from "./pipeline/receive.ts";
import { type RevertOptions, revertBlocks } from "./pipeline/revert.ts";
import type { VerifiedBlock } from "./pipeline/verify.ts";
import { type PrepareDeps, prepare } from "./prepare.ts";
import type { ChainStores } from "./stores.ts";

/**
 * Appends blocks one after another. An exception that it throws reverts the whole transaction.
 *
 * @param returned transactions of the reverted blocks
 */
export type Extend = (
  append: (verified: VerifiedBlock) => Outcome,
  returned: readonly SealedTransaction[],
) => void;

export type BranchOptions = RevertOptions & { readonly undoDepth: number };

/**
 * Reverts every block above the target and extends the chain there. If it throws, nothing is written to disk,
 * and the caller must discard its changes in memory.
 *
 * @throws {ChainError} CHAIN_UNDO_MISSING; everything that `extend` throws
 */
export function replaceBlocks(
  stores: ChainStores,
  executor: Executor,
  options: BranchOptions,
  extend: Extend,
): ChainChange {
  return stores.database.transaction(() => {
    const reverted = revertBlocks(stores, options);
    stores.assumption.reverted(options.target);
    const applied: ExecutedBlock[] = [];
    executor.moveTo(reverted.head);
    extend((verified) => executor.execute(verified, applied), reverted.returned);
    commitBlocks(stores, applied, options);
    return { ...reverted, head: executor.tip(), applied };
  });
}

/** Reads and verifies all blocks of a branch like a batch; all of them stay in memory. */
export async function prepareBranch(
  blocks: readonly BlockInput[],
  deps: PrepareDeps,
): Promise<PreparedBlock[]> {
  const batch = createBatch(blocks);
  const parts = splitBatch(batch, blocks);
  for (let first = 0; first < parts.length && !batch.isStopped; first += PREFETCHED_PARTS) {
    const some = parts.slice(first, first + PREFETCHED_PARTS);
    for (const part of some) prepare(part, deps);
    await Promise.all(some.map(({ preparing }) => preparing));
  }
  if (batch.failure !== undefined) throw batch.failure;
  return parts.flatMap(({ prepared = [] }) => prepared);
}

const REFUSED = Symbol("a block was not accepted");

/**
 * Appends blocks up to the first that is refused. If one is refused, all of them are reverted: see the last
 * outcome.
 */
export function appendAll(blocks: readonly PreparedBlock[], replace: (extend: Extend) => void): Outcome[] {
  const outcomes: Outcome[] = [];
  try {
    replace((append) => {
      for (const block of blocks) {
        const outcome: Outcome =
          block instanceof Error ? { kind: "Unreadable", cause: block } : append(block);
        outcomes.push(outcome);
        if (outcome.kind !== "Accepted") throw REFUSED;
      }
    });
  } catch (error) {
    if (error !== REFUSED) throw error;
  }
  return outcomes;
}

/** A block that this node has just signed. Its transactions were verified before. */
export function forgedBlock(block: EncodedBlock, network: Network, now: number): VerifiedBlock {
  const received = receiveMade(block, network);
  const transactions = received.transactions.map(() => true);
  const verified = withVerdicts(received, { header: "valid", transactions });
  const faults = checkBlock(verified, { network, now, headerSignature: "valid" });
  return { block: verified, faults, isAssumed: false };
}
