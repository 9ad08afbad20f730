/**
 * The only writer of the chain: executes and commits prepared blocks, and replaces blocks by others. What was executed
 * is committed in the same tick of the event loop, so that a reader never sees a state that is not on disk. Blocks are
 * replaced in one database transaction: a reader sees either the old branch or the new one, and a branch that turns out to be
 * invalid was never on the chain (decision 10).
 */
import { isChained, type Wallet } from "@uniknode/ledger";
import {
  type Block,
  type BlockFault,
  type BlockHeader,
  containsMultiSignatures,
  createSlots,
  isBlockException,
  type Network,
  type SealedTransaction,
  type Slots,
} from "@uniknode/protocol";
import type { Event } from "../events/catalogue.ts";
import { type Pin, type PinNews, pinHasFailed } from "./assumption.ts";
import {
  type BatchPart,
  type BlockBatch,
  failBatch,
  type PreparedBlock,
  settleBatch,
} from "./block-queue.ts";
import { asChainError, type ChainChange, ChainError, type Outcome } from "./outcome.ts";
import {
  commitBlocks,
  discardUnchecked,
  type ExecutedBlock,
  type NeedsUndo,
  revertBlocks,
} from "./pipeline/commit.ts";
import type { Executor } from "./pipeline/execute.ts";
import type { VerifiedBlock } from "./pipeline/verify.ts";
import type { ChainStores } from "./stores.ts";

export type WriterOptions = {
  /** Blocks below the head that can be reverted. */
  readonly undoDepth: number;
  /** Maximum number of reverted transactions in an announcement. */
  readonly maxReturnedTransactions: number;
};

/**
 * Appends blocks one after another. An exception that it throws reverts the whole transaction.
 *
 * @param returned transactions of the reverted blocks
 */
type Extend = (append: (verified: VerifiedBlock) => Outcome, returned: readonly SealedTransaction[]) => void;

type WriterDeps = {
  readonly network: Network;
  readonly genesis: Block;
  readonly stores: ChainStores;
  readonly executor: Executor;
  readonly head: BlockHeader;
  readonly eventsOfRevert: (block: Block, wallets: readonly Wallet[]) => Event[];
  readonly needsUndo: NeedsUndo;
  readonly notify: (change: ChainChange) => void;
  readonly onPin?: (news: PinNews) => void;
};

const REFUSED = Symbol("a block was not accepted");
const SKIPPED: Outcome = { kind: "Skipped" };

/** Returns the refusal of a block that is wrong in any state; undefined if only its execution can decide. */
function refusalInAnyState(
  { block, faults }: VerifiedBlock,
  below: BlockHeader | undefined,
  { network, slots }: { readonly network: Network; readonly slots: Slots },
): Outcome | undefined {
  const ids = block.transactions.map(({ data }) => data.id);
  if (isBlockException(block.header.id, ids, network)) return undefined;
  // Signatures of multisignature wallets are verified with the wallets.
  const isOpen = ({ code }: BlockFault) =>
    containsMultiSignatures(block) &&
    (code === "unverified-transactions" || code === "unverified-transaction");
  if (!faults.every(isOpen)) return { kind: "Rejected", reason: "verification-failed", faults };
  return below && !isChained(block.header, { head: below, slots }) ? { kind: "Unchained" } : undefined;
}

export class Writer {
  readonly #options: WriterOptions;
  readonly #deps: WriterDeps;
  /** Blocks reverted since the process started. */
  revertedBlocks = 0;
  /** The last committed block. */
  #head: BlockHeader;

  constructor(options: WriterOptions, deps: WriterDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#head = deps.head;
  }

  /** Executes parts and commits them together. A failure reverts the whole commit. */
  write(parts: Iterable<BatchPart>): void {
    const { stores, executor, onPin, needsUndo } = this.#deps;
    const executed: ExecutedBlock[] = [];
    const batches = new Set<BlockBatch>();
    try {
      for (const part of parts) {
        batches.add(part.batch);
        this.#appendPart(part, executed);
      }
      const targetHeight = Math.min(...[...batches].map((batch) => batch.targetHeight));
      commitBlocks(stores, executed, {
        undoDepth: this.#options.undoDepth,
        needsUndo: (header) => needsUndo(header, targetHeight),
      });
    } catch (cause) {
      const failure = asChainError(`the blocks after ${this.#head.height}`, this.#recover(cause));
      for (const batch of batches) failBatch(batch, failure);
      return;
    }
    if (executed.length > 0) {
      this.#announce({ head: executor.tip(), applied: executed, revertedBlocks: 0, returned: [] });
      const reached = stores.assumption.reachedBy(executed);
      if (reached) onPin?.(reached);
    }
    for (const batch of batches) settleBatch(batch);
  }

  /** Each block of the part gets an outcome. */
  #appendPart({ batch, blocks: { length }, prepared = [] }: BatchPart, executed: ExecutedBlock[]): void {
    if (batch.signal?.aborted) batch.isStopped = true;
    for (let index = 0; index < length; index++) {
      const block = batch.isStopped ? undefined : prepared[index];
      const outcome = block ? this.#appendBlock(block, batch, executed) : SKIPPED;
      if (outcome.kind !== "Accepted") batch.isStopped = true;
      batch.outcomes.push(outcome);
    }
  }

  #appendBlock(prepared: PreparedBlock, batch: BlockBatch, executed: ExecutedBlock[]): Outcome {
    const { executor, stores } = this.#deps;
    if (prepared instanceof Error) return { kind: "Unreadable", cause: prepared };
    const isFirst = batch.outcomes.length === 0;
    if (isFirst && !executor.isContinuedBy(prepared.block)) return { kind: "Unchained" };
    if (prepared.isAssumed && !stores.assumption.covers(prepared.block.header)) {
      batch.failure ??= pinHasFailed();
      return SKIPPED;
    }
    return executor.execute(prepared, executed);
  }

  /**
   * Replaces the blocks above a height by the blocks that `extend` appends there, if any.
   *
   * @throws {ChainError} CHAIN_HEIGHT_UNKNOWN, CHAIN_UNDO_MISSING; everything that `extend` throws
   */
  replaceAbove(target: number, extend: Extend): void {
    const { stores, executor, eventsOfRevert } = this.#deps;
    const { undoDepth, maxReturnedTransactions } = this.#options;
    // The signatures of transactions in unchecked blocks may be wrong.
    const isChecked = stores.assumption.uncheckedFrom() === undefined;
    const maxReturned = isChecked ? maxReturnedTransactions : 0;
    if (!Number.isInteger(target) || target < 1 || target > this.#head.height) {
      throw new ChainError("CHAIN_HEIGHT_UNKNOWN", `cannot revert to block ${target}: it does not exist`);
    }
    let change: ChainChange;
    try {
      change = stores.database.transaction(() => {
        const reverted = revertBlocks(stores, { target, maxReturned, eventsOfRevert });
        stores.assumption.reverted(target);
        const applied: ExecutedBlock[] = [];
        executor.moveTo(reverted.head);
        extend((verified) => executor.execute(verified, applied), reverted.returned);
        commitBlocks(stores, applied, { undoDepth });
        return { ...reverted, head: executor.tip(), applied };
      });
    } catch (cause) {
      throw this.#recover(cause);
    }
    this.#announce(change);
  }

  /**
   * Replaces the blocks above a height by others, up to the first that is refused. If one is refused, the chain stays as it
   * was: see the last outcome. Nothing is reverted for blocks of which one is wrong in any state.
   */
  replaceAll(target: number, blocks: readonly PreparedBlock[]): Outcome[] {
    const { network, stores } = this.#deps;
    const rules = { network, slots: createSlots(network) };
    const verified: VerifiedBlock[] = [];
    const refuse = (outcome: Outcome): Outcome[] => [...verified.map(() => SKIPPED), outcome];
    let below = stores.blocks.header(target);
    for (const block of blocks) {
      if (block instanceof Error) return refuse({ kind: "Unreadable", cause: block });
      const outcome = refusalInAnyState(block, below, rules);
      if (outcome) return refuse(outcome);
      verified.push(block);
      below = block.block.header;
    }
    return this.#replaceByVerified(target, verified);
  }

  #replaceByVerified(target: number, blocks: readonly VerifiedBlock[]): Outcome[] {
    const outcomes: Outcome[] = [];
    try {
      this.replaceAbove(target, (append) => {
        for (const block of blocks) {
          const outcome = append(block);
          outcomes.push(outcome);
          if (outcome.kind !== "Accepted") throw REFUSED;
        }
      });
    } catch (error) {
      if (error !== REFUSED) throw error;
    }
    return outcomes;
  }

  /** Removes the unchecked blocks, and checks all blocks from then on. */
  discardAbovePin(pin: Pin): void {
    const { stores, executor, onPin } = this.#deps;
    let change: ChainChange;
    try {
      change = discardUnchecked(stores, this.#deps);
    } catch (cause) {
      this.#forget();
      throw cause;
    }
    this.#head = change.head;
    executor.moveTo(change.head);
    onPin?.({ kind: "failed", pin, height: change.head.height });
    if (change.revertedBlocks > 0) this.#announce(change);
  }

  /**
   * Discards the changes in memory after a failure, and the blocks that a failed pin makes doubtful. Returns the error to
   * report.
   */
  #recover(cause: unknown): unknown {
    this.#forget();
    const pin = this.#deps.stores.assumption.pin();
    if (!pin || !(cause instanceof ChainError) || cause.code !== "CHAIN_PIN_FAILED") return cause;
    try {
      this.discardAbovePin(pin);
      return cause;
    } catch (error) {
      return error;
    }
  }

  /** Resets the state in memory to the database. */
  #forget(): void {
    const { executor, stores } = this.#deps;
    executor.forget(this.#head);
    stores.assumption.reload();
  }

  /** Moves the head to that of a committed change, and notifies the listeners. */
  #announce(change: ChainChange): void {
    this.#head = change.head;
    this.revertedBlocks += change.revertedBlocks;
    this.#deps.notify(change);
  }
}
