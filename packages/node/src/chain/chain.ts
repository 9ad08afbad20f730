/**
 * The chain of this node: a single writer that processes batches of blocks and reverts one after another,
 * while later blocks are already being read and verified (decision 6).
 *
 * Executed blocks are committed in the same tick of the event loop: a reader never sees a state that is not
 * on disk.
 */
import type { Fact, StateReader, Wallet } from "@uniknode/ledger";
import type { Block, BlockHeader, EncodedBlock, Network, SealedTransaction } from "@uniknode/protocol";
import type { Event } from "../events/event.ts";
import { createSubscribers } from "../platform/subscribers.ts";
import { type BlockStore, createBlockStore } from "../store/chain/blocks.ts";
import { createTransactionStore } from "../store/chain/transactions.ts";
import type { Database } from "../store/engine/database.ts";
import type { EventLog } from "../store/events/event-log.ts";
import { createMetaStore } from "../store/node/meta.ts";
import { createStateStore } from "../store/state/state.ts";
import { createUndoStore } from "../store/state/undo.ts";
import type { Verifier } from "../verification/verifier.ts";
import type { RecordedSignatures } from "../verification/wallet-signatures.ts";
import { openAssumption, type Pin, type PinNews, pinHasFailed } from "./assumption.ts";
import { appendAll, type Extend, forgedBlock, prepareBranch, replaceBlocks } from "./branch.ts";
import { discardUnchecked } from "./discard.ts";
import { ChainError } from "./error.ts";
import { openHead } from "./genesis.ts";
import { type Outcome, refusalOf } from "./outcome.ts";
import type { ChainChange, ChainListener } from "./pipeline/announce.ts";
import { commitBlocks, type ExecutedBlock } from "./pipeline/commit.ts";
import { createExecutor } from "./pipeline/execute.ts";
import type { BlockInput } from "./pipeline/receive.ts";
import type { VerifyDeps } from "./pipeline/verify.ts";
import {
  type Assumes,
  type BatchPart,
  type BlockBatch,
  createBatch,
  failBatch,
  type PreparedBlock,
  settleBatch,
  splitBatch,
} from "./queue/block-batch.ts";
import { createBlockQueue } from "./queue/block-queue.ts";
import { prepare } from "./queue/prepare.ts";
import type { ChainStores } from "./stores.ts";
import { createTip } from "./tip.ts";

export type ChainOptions = {
  /** Records of each state table that are kept in memory. */
  readonly cacheSize: number;
  /** Blocks below the head that can be reverted. */
  readonly undoDepth: number;
  /** Maximum number of reverted transactions in an announcement. */
  readonly maxReturnedTransactions: number;
};

export const DEFAULT_CHAIN_OPTIONS: ChainOptions = {
  cacheSize: 20_000,
  undoDepth: 10_000,
  maxReturnedTransactions: 15_000,
};

export type ChainDeps = {
  readonly database: Database;
  readonly network: Network;
  readonly genesis: Block;
  readonly verifier: Verifier;
  /** Verdicts about signatures that depend on wallets. If absent, they are computed during execution. */
  readonly signatures?: RecordedSignatures;
  readonly events: EventLog;
  /** Called only with facts that have subscribers. */
  readonly eventsOfFacts: (facts: readonly Fact[], header: BlockHeader) => Event[];
  readonly eventsOfRevert: (block: Block, wallets: readonly Wallet[]) => Event[];
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Signatures of fetched blocks are assumed to be valid up to this block. If absent, all are checked. */
  readonly assumeValid?: Pin | undefined;
  /** Called when the chain reaches the height of the pin, with the pinned block or another one. */
  readonly onPin?: (news: PinNews) => void;
  /** Called with the error that a listener threw. */
  readonly onListenerError: (error: unknown) => void;
  /** Called with an unexpected error for which a block was refused, such as a state that cannot be read. */
  readonly onUnexpectedError?: (error: unknown, header: BlockHeader) => void;
};

export type Chain = {
  head(): BlockHeader;
  /** The consensus state at the head. */
  readonly state: StateReader;
  readonly blocks: Pick<BlockStore, "header" | "headerById" | "block" | "bytes">;
  /** Returns true while blocks are being processed. */
  isBusy(): boolean;
  /** Returns the transaction ids that are on the chain. */
  storedIds(ids: readonly string[]): string[];
  /**
   * Appends consecutive blocks up to the first that is refused. Each can be serialized or a value; the checks
   * are the same. Settles with one outcome for each block after the accepted ones are on disk.
   *
   * @throws {ChainError} CHAIN_COMMIT_FAILED, CHAIN_PIN_FAILED: some of the blocks may have been accepted,
   * see `head`;
   *   CHAIN_CLOSED
   */
  accept(blocks: readonly BlockInput[]): Promise<Outcome[]>;
  /**
   * Like `accept`, for blocks of the past: signatures up to the pin are assumed to be valid.
   *
   * @param signal skips the blocks that are not executed yet
   */
  acceptFetched(blocks: readonly BlockInput[], signal?: AbortSignal): Promise<Outcome[]>;
  /**
   * The pin in force, and the first block whose signatures were not checked, until the chain contains the
   * pinned block.
   */
  assumption(): { readonly pin: Pin | undefined; readonly uncheckedFrom: number | undefined };
  /**
   * Removes the blocks whose signatures were not checked, and checks all blocks from then on. False if there
   * are none.
   *
   * @throws {ChainError} CHAIN_COMMIT_FAILED, CHAIN_CLOSED
   */
  discardUnchecked(): Promise<boolean>;
  /**
   * Removes all blocks above the height, after the batches that were queued before.
   *
   * @throws {ChainError} CHAIN_HEIGHT_UNKNOWN, CHAIN_UNDO_MISSING, CHAIN_COMMIT_FAILED, CHAIN_CLOSED
   */
  revertTo(height: number): Promise<void>;
  /**
   * Switches from all blocks above the height to a longer branch, in one commit. Settles with the outcome of
   * each block of the branch up to the first that is refused. If one is refused, the chain stays as it was.
   *
   * @param onHeader called before the switch with each header of the branch that could be read; it may be
   * invalid
   * @throws {ChainError} as `revertTo`; CHAIN_BRANCH_SHORT
   */
  switchTo(
    height: number,
    branch: readonly BlockInput[],
    onHeader?: (header: BlockHeader) => void,
  ): Promise<Outcome[]>;
  /**
   * Like `switchTo`, with blocks that this node creates one after another, each on the one before. `make`
   * receives the transactions of the reverted blocks, and must be synchronous.
   *
   * @throws {ChainError} as `switchTo`; everything that `make` throws, after which the chain stays as it was
   */
  forgeFrom(
    height: number,
    make: (returned: readonly SealedTransaction[]) => EncodedBlock | undefined,
  ): Promise<void>;
  /** Calls the listener after every commit; see `Subscribers`. */
  subscribe(listener: ChainListener): () => void;
  /** Settles when all queued work has an outcome. Further calls are rejected. */
  close(): Promise<void>;
};

/**
 * Opens the chain in a migrated database; an empty one gets the genesis block.
 *
 * @throws {ChainError} CHAIN_NETWORK_MISMATCH, CHAIN_GENESIS_MISMATCH, CHAIN_UNCHECKED
 */
export function createChain(options: ChainOptions, deps: ChainDeps): Chain {
  const { database, network, genesis, signatures, events, eventsOfRevert, onPin = () => {} } = deps;
  const meta = createMetaStore(database);
  const assumption = openAssumption(meta, deps.assumeValid);
  const stores: ChainStores = {
    database,
    events,
    meta,
    assumption,
    blocks: createBlockStore(database),
    transactions: createTransactionStore(database),
    state: createStateStore(database, options),
    undo: createUndoStore(database),
  };
  const { state, blocks, transactions } = stores;
  let head = openHead(stores, network, genesis);
  const executor = createExecutor({
    network,
    state,
    signatures,
    isBlockStored: (id) => blocks.headerById(id) !== undefined,
    isTransactionStored: (id) => transactions.storedIds([id]).length > 0,
    onUnexpectedError: deps.onUnexpectedError ?? (() => {}),
  });
  const tip = createTip(head, { executor, stores, eventsOfFacts: deps.eventsOfFacts });
  const { subscribe, notify: announce } = createSubscribers<ChainChange>(deps.onListenerError);

  const verifying: VerifyDeps = {
    ...deps,
    ...(signatures && { verifyAhead: (transactions) => signatures.verifyAhead(transactions, state) }),
  };
  const queue = createBlockQueue({ prepare: (part) => prepare(part, verifying), execute });
  let isClosed = false;

  /** A failure reverts the whole commit. */
  function execute(parts: Iterable<BatchPart>): void {
    const executed: ExecutedBlock[] = [];
    const batches = new Set<BlockBatch>();
    try {
      for (const part of parts) {
        batches.add(part.batch);
        executePart(part, executed);
      }
      commitBlocks(stores, executed, options.undoDepth);
    } catch (cause) {
      const failure = asChainError(`the blocks after ${head.height}`, recover(cause));
      for (const batch of batches) failBatch(batch, failure);
      return;
    }
    if (executed.length > 0) {
      head = tip.header();
      announce({ head, applied: executed, revertedBlocks: 0, returned: [] });
      const reached = assumption.reachedBy(executed);
      if (reached) onPin(reached);
    }
    for (const batch of batches) settleBatch(batch);
  }

  /**
   * Discards what a failure left in memory, and the blocks that a failed pin makes doubtful. Returns the
   * error to report.
   */
  function recover(cause: unknown): unknown {
    tip.forget(head);
    assumption.reload();
    const pin = assumption.pin();
    if (!pin || !(cause instanceof ChainError) || cause.code !== "CHAIN_PIN_FAILED") return cause;
    try {
      discard(pin);
      return cause;
    } catch (error) {
      return error;
    }
  }

  /** Removes the unchecked blocks, and checks all blocks from then on. */
  function discard(pin: Pin): void {
    let change: ChainChange;
    try {
      change = discardUnchecked(stores, { network, genesis, eventsOfRevert });
    } catch (cause) {
      tip.forget(head);
      assumption.reload();
      throw cause;
    }
    head = change.head;
    tip.moveTo(head);
    onPin({ kind: "failed", pin, height: head.height });
    if (change.revertedBlocks > 0) announce(change);
  }

  function executePart(
    { batch, blocks: { length }, prepared = [] }: BatchPart,
    executed: ExecutedBlock[],
  ): void {
    if (batch.signal?.aborted) batch.isStopped = true;
    for (let index = 0; index < length; index++) {
      const block = batch.isStopped ? undefined : prepared[index];
      const outcome = block ? executeBlock(block, batch, executed) : ({ answer: "Skipped" } as const);
      if (outcome.answer !== "Accepted") batch.isStopped = true;
      batch.outcomes.push(outcome);
    }
  }

  function executeBlock(prepared: PreparedBlock, batch: BlockBatch, executed: ExecutedBlock[]): Outcome {
    if (prepared instanceof Error) return { answer: "Unreadable", cause: prepared };
    const isFirst = batch.outcomes.length === 0;
    if (isFirst && !tip.isContinuedBy(prepared.block)) return { answer: "Unchained" };
    if (prepared.isAssumed && !assumption.covers(prepared.block.header)) {
      batch.failure ??= pinHasFailed();
      return { answer: "Skipped" };
    }
    return tip.append(prepared, executed);
  }

  /** Replaces the blocks above a height by the blocks that `extend` appends there, if any. */
  function replace(target: number, extend: Extend): void {
    const { undoDepth } = options;
    // The signatures of transactions in unchecked blocks may be wrong.
    const maxReturned = assumption.uncheckedFrom() === undefined ? options.maxReturnedTransactions : 0;
    if (!Number.isInteger(target) || target < 1 || target > head.height) {
      throw new ChainError("CHAIN_HEIGHT_UNKNOWN", `cannot revert to block ${target}: it does not exist`);
    }
    let change: ChainChange;
    try {
      change = replaceBlocks(stores, tip, { target, maxReturned, eventsOfRevert, undoDepth }, extend);
    } catch (cause) {
      throw recover(cause);
    }
    head = tip.header();
    announce(change);
  }

  async function take(
    given: readonly BlockInput[],
    assumes?: Assumes,
    signal?: AbortSignal,
  ): Promise<Outcome[]> {
    if (isClosed) throw closedError();
    if (given.length === 0) return [];
    const batch = createBatch(given, assumes, signal);
    queue.add(splitBatch(batch, given));
    return batch.answer.promise;
  }

  /** Runs a job between two batches. */
  async function between<T>(work: () => T): Promise<T> {
    if (isClosed) throw closedError();
    const answer = Promise.withResolvers<T>();
    queue.add([{ run: () => settleWith(answer, work) }]);
    return answer.promise;
  }

  return {
    state,
    blocks,
    subscribe,
    head: tip.header,
    isBusy: queue.isBusy,
    storedIds: transactions.storedIds,
    accept: (given) => take(given),
    acceptFetched: (given, signal) => take(given, assumption.covers, signal),
    assumption: () => ({ pin: assumption.pin(), uncheckedFrom: assumption.uncheckedFrom() }),
    discardUnchecked: () =>
      between(() => {
        const pin = assumption.pin();
        if (!pin || assumption.uncheckedFrom() === undefined) return false;
        named("the end of the unchecked blocks", () => discard(pin));
        return true;
      }),
    revertTo: (target) =>
      between(() => {
        if (target !== head.height) named(`the revert to ${target}`, () => replace(target, () => {}));
      }),
    async switchTo(target, branch, onHeader = () => {}) {
      if (isClosed) throw closedError();
      const prepared = await prepareBranch(branch, verifying);
      for (const block of prepared) if (!(block instanceof Error)) onHeader(block.block.header);
      return between(() => {
        if (target + branch.length <= head.height) throw branchShort(target + branch.length, head.height);
        return named(`the branch after ${target}`, () =>
          appendAll(prepared, (extend) => replace(target, extend)),
        );
      });
    },
    forgeFrom: (target, make) =>
      between(() =>
        replace(target, (append, returned) => {
          for (let block = make(returned); block; block = make(returned)) {
            const refusal = refusalOf(append(forgedBlock(block, network, deps.now())));
            if (refusal !== undefined)
              throw new Error(`block ${block.header.height} was refused: ${refusal}`);
          }
        }),
      ),
    async close() {
      isClosed = true;
      await queue.idle();
    },
  };
}

function settleWith<T>({ resolve, reject }: PromiseWithResolvers<T>, work: () => T): void {
  try {
    resolve(work());
  } catch (error) {
    reject(error);
  }
}

/** Names the operation in an error that is not the chain's own. */
function named<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw asChainError(what, cause);
  }
}

const closedError = () => new ChainError("CHAIN_CLOSED", "the chain was closed");

const branchShort = (top: number, height: number) =>
  new ChainError("CHAIN_BRANCH_SHORT", `the branch ends at ${top}, but the chain is already at ${height}`);

const asChainError = (what: string, cause: unknown) =>
  cause instanceof ChainError
    ? cause
    : new ChainError("CHAIN_COMMIT_FAILED", `${what} could not be committed: ${messageOf(cause)}`, { cause });

const messageOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause));
