/**
 * Leaving the top of the chain for another branch, in one database transaction: a reader sees the one or the other, and
 * nothing between; a branch that turns out to be wrong was never on the chain (decision 15).
 */
import type { Block, Network, SealedTransaction } from "@uniknode/protocol";
import { checkBlock, encodeBlock, withVerdicts } from "@uniknode/protocol";
import type { Outcome } from "./outcome.ts";
import type { ChainChange } from "./pipeline/announce.ts";
import { commitBlocks, type ExecutedBlock } from "./pipeline/commit.ts";
import { prepare } from "./pipeline/prepare.ts";
import { receiveBlock } from "./pipeline/receive.ts";
import { type RevertOptions, revertBlocks } from "./pipeline/revert.ts";
import type { VerifiedBlock, VerifyDeps } from "./pipeline/verify.ts";
import { createDelivery, type PreparedBlock, partsOf } from "./queue/block-batch.ts";
import { PREPARED_PARTS } from "./queue/block-queue.ts";
import type { ChainStores } from "./stores.ts";
import type { Tip } from "./tip.ts";

/**
 * Puts blocks on the chain one after another. What it throws takes everything back.
 *
 * @param returned transactions of the blocks that left
 */
export type Grow = (
  append: (verified: VerifiedBlock) => Outcome,
  returned: readonly SealedTransaction[],
) => void;

export type BranchOptions = RevertOptions & { readonly undoDepth: number };

/**
 * Reverts every block above the target and lets others grow there. If it throws, nothing is on disk, and the caller
 * forgets what is in memory.
 *
 * @throws {ChainError} CHAIN_UNDO_MISSING; whatever `grow` throws
 */
export function replaceBlocks(
  stores: ChainStores,
  tip: Tip,
  options: BranchOptions,
  grow: Grow,
): ChainChange {
  return stores.database.transaction(() => {
    const reverted = revertBlocks(stores, options);
    const applied: ExecutedBlock[] = [];
    tip.moveTo(reverted.head);
    grow((verified) => tip.append(verified, applied), reverted.returned);
    commitBlocks(stores, applied, options.undoDepth);
    return { ...reverted, head: tip.header(), applied };
  });
}

/** Reads and verifies the blocks of a whole branch, as those of a delivery are, and holds all of them. */
export async function prepareBranch(
  blocks: readonly Uint8Array[],
  deps: VerifyDeps,
): Promise<PreparedBlock[]> {
  const delivery = createDelivery(blocks);
  const parts = partsOf(delivery, blocks);
  for (let first = 0; first < parts.length && !delivery.isStopped; first += PREPARED_PARTS) {
    const some = parts.slice(first, first + PREPARED_PARTS);
    for (const part of some) prepare(part, deps);
    await Promise.all(some.map(({ preparing }) => preparing));
  }
  if (delivery.failure !== undefined) throw delivery.failure;
  return parts.flatMap(({ prepared = [] }) => prepared);
}

const REFUSED = Symbol("a block was not accepted");

/** Appends blocks up to the first that is not accepted, for which all of it is taken back: see the last outcome. */
export function appendAll(blocks: readonly PreparedBlock[], replace: (grow: Grow) => void): Outcome[] {
  const outcomes: Outcome[] = [];
  try {
    replace((append) => {
      for (const block of blocks) {
        const outcome: Outcome =
          block instanceof Error ? { answer: "Unreadable", cause: block } : append(block);
        outcomes.push(outcome);
        if (outcome.answer !== "Accepted") throw REFUSED;
      }
    });
  } catch (error) {
    if (error !== REFUSED) throw error;
  }
  return outcomes;
}

/** A block that this node has just signed, with transactions that it has verified before. */
export function ownBlock(block: Block, network: Network, now: number): VerifiedBlock {
  const received = receiveBlock(encodeBlock(block, network), network);
  const verified = {
    ...received,
    ...withVerdicts(received, { header: "valid", transactions: received.transactions.map(() => true) }),
  };
  return { block: verified, faults: checkBlock(verified, { network, now, headerSignature: "valid" }) };
}
