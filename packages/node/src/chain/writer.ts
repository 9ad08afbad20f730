/**
 * The only writer of the chain: executes and commits prepared blocks, and replaces blocks by others. What was executed
 * is committed in the same tick of the event loop, so that a reader never sees a state that is not on disk.
 */
import type { Wallet } from "@uniknode/ledger";
import type { Block, BlockHeader, Network } from "@uniknode/protocol";
import type { Event } from "../events/event.ts";
import { type Pin, type PinNews, pinHasFailed } from "./assumption.ts";
import {
  type BatchPart,
  type BlockBatch,
  failBatch,
  type PreparedBlock,
  settleBatch,
} from "./block-queue.ts";
import { type Extend, replaceBlocks } from "./branch.ts";
import { asChainError, ChainError } from "./error.ts";
import type { ChainChange, Outcome } from "./outcome.ts";
import { commitBlocks, type ExecutedBlock, type NeedsUndo } from "./pipeline/commit.ts";
import type { Executor } from "./pipeline/execute.ts";
import { discardUnchecked } from "./pipeline/revert.ts";
import type { ChainStores } from "./stores.ts";

export type WriterOptions = {
  /** Blocks below the head that can be reverted. */
  readonly undoDepth: number;
  /** Maximum number of reverted transactions in an announcement. */
  readonly maxReturnedTransactions: number;
};

export type Writer = {
  /** The last committed block. */
  head: BlockHeader;
  readonly notify: (change: ChainChange) => void;
  readonly options: WriterOptions;
  readonly network: Network;
  readonly genesis: Block;
  readonly stores: ChainStores;
  readonly executor: Executor;
  readonly eventsOfRevert: (block: Block, wallets: readonly Wallet[]) => Event[];
  readonly onPin: (news: PinNews) => void;
  readonly needsUndo: NeedsUndo;
};

/** Executes parts and commits them together. A failure reverts the whole commit. */
export function writeParts(writer: Writer, parts: Iterable<BatchPart>): void {
  const { stores, executor, options } = writer;
  const executed: ExecutedBlock[] = [];
  const batches = new Set<BlockBatch>();
  try {
    for (const part of parts) {
      batches.add(part.batch);
      appendPart(writer, part, executed);
    }
    const targetHeight = Math.min(...[...batches].map((batch) => batch.targetHeight));
    const needsUndo = (header: BlockHeader) => writer.needsUndo(header, targetHeight);
    commitBlocks(stores, executed, { ...options, needsUndo });
  } catch (cause) {
    const failure = asChainError(`the blocks after ${writer.head.height}`, recover(writer, cause));
    for (const batch of batches) failBatch(batch, failure);
    return;
  }
  if (executed.length > 0) {
    announce(writer, { head: executor.tip(), applied: executed, revertedBlocks: 0, returned: [] });
    const reached = stores.assumption.reachedBy(executed);
    if (reached) writer.onPin(reached);
  }
  for (const batch of batches) settleBatch(batch);
}

/** Each block of the part gets an outcome. */
function appendPart(
  writer: Writer,
  { batch, blocks: { length }, prepared = [] }: BatchPart,
  executed: ExecutedBlock[],
): void {
  if (batch.signal?.aborted) batch.isStopped = true;
  for (let index = 0; index < length; index++) {
    const block = batch.isStopped ? undefined : prepared[index];
    const outcome = block ? appendBlock(writer, block, batch, executed) : ({ kind: "Skipped" } as const);
    if (outcome.kind !== "Accepted") batch.isStopped = true;
    batch.outcomes.push(outcome);
  }
}

function appendBlock(
  { executor, stores }: Writer,
  prepared: PreparedBlock,
  batch: BlockBatch,
  executed: ExecutedBlock[],
): Outcome {
  if (prepared instanceof Error) return { kind: "Unreadable", cause: prepared };
  const isFirst = batch.outcomes.length === 0;
  if (isFirst && !executor.isContinuedBy(prepared.block)) return { kind: "Unchained" };
  if (prepared.isAssumed && !stores.assumption.covers(prepared.block.header)) {
    batch.failure ??= pinHasFailed();
    return { kind: "Skipped" };
  }
  return executor.execute(prepared, executed);
}

/**
 * Replaces the blocks above a height by the blocks that `extend` appends there, if any.
 *
 * @throws {ChainError} CHAIN_HEIGHT_UNKNOWN; everything that `replaceBlocks` throws
 */
export function replaceAbove(writer: Writer, target: number, extend: Extend): void {
  const { stores, executor, options, eventsOfRevert } = writer;
  const { undoDepth } = options;
  // The signatures of transactions in unchecked blocks may be wrong.
  const isChecked = stores.assumption.uncheckedFrom() === undefined;
  const maxReturned = isChecked ? options.maxReturnedTransactions : 0;
  if (!Number.isInteger(target) || target < 1 || target > writer.head.height) {
    throw new ChainError("CHAIN_HEIGHT_UNKNOWN", `cannot revert to block ${target}: it does not exist`);
  }
  let change: ChainChange;
  try {
    change = replaceBlocks(stores, executor, { target, maxReturned, eventsOfRevert, undoDepth }, extend);
  } catch (cause) {
    throw recover(writer, cause);
  }
  announce(writer, change);
}

/**
 * Discards the changes in memory after a failure, and the blocks that a failed pin makes doubtful. Returns the error to
 * report.
 */
function recover(writer: Writer, cause: unknown): unknown {
  const { assumption } = writer.stores;
  forget(writer);
  const pin = assumption.pin();
  if (!pin || !(cause instanceof ChainError) || cause.code !== "CHAIN_PIN_FAILED") return cause;
  try {
    discardAbovePin(writer, pin);
    return cause;
  } catch (error) {
    return error;
  }
}

/** Resets the state in memory to the database. */
function forget({ executor, head, stores }: Writer): void {
  executor.forget(head);
  stores.assumption.reload();
}

/** Removes the unchecked blocks, and checks all blocks from then on. */
export function discardAbovePin(writer: Writer, pin: Pin): void {
  const { stores, executor, network, genesis, eventsOfRevert } = writer;
  let change: ChainChange;
  try {
    change = discardUnchecked(stores, { network, genesis, eventsOfRevert });
  } catch (cause) {
    forget(writer);
    throw cause;
  }
  writer.head = change.head;
  executor.moveTo(change.head);
  writer.onPin({ kind: "failed", pin, height: change.head.height });
  if (change.revertedBlocks > 0) announce(writer, change);
}

/** Moves the head to that of a committed change, and notifies the listeners. */
function announce(writer: Writer, change: ChainChange): void {
  writer.head = change.head;
  writer.notify(change);
}
