/**
 * The chain of this node: one writer that takes batches of blocks and reverts one after another, while later
 * blocks are already being read and verified (decision 6).
 *
 * What is executed is committed in the same tick of the event loop: no reader ever sees a state that is not on disk.
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
import { appendAll, type Extend, forgedBlock, prepareBranch, replaceBlocks } from "./branch.ts";
import { ChainError } from "./error.ts";
import { openHead } from "./genesis.ts";
import { type Outcome, refusalOf } from "./outcome.ts";
import type { ChainChange, ChainListener } from "./pipeline/announce.ts";
import { commitBlocks, type ExecutedBlock } from "./pipeline/commit.ts";
import { createExecutor } from "./pipeline/execute.ts";
import { prepare } from "./pipeline/prepare.ts";
import type { BlockInput } from "./pipeline/receive.ts";
import type { Verifier } from "./pipeline/verifier.ts";
import {
  type BatchPart,
  type BlockBatch,
  createBatch,
  failBatch,
  type PreparedBlock,
  settleBatch,
  splitBatch,
} from "./queue/block-batch.ts";
import { createBlockQueue } from "./queue/block-queue.ts";
import type { ChainStores } from "./stores.ts";
import { createTip } from "./tip.ts";

export type ChainOptions = {
  /** Records of each state table kept in memory. */
  readonly cacheSize: number;
  /** Blocks below the head that can be reverted. */
  readonly undoDepth: number;
  /** Reverted transactions that an announcement carries at most. */
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
  readonly events: EventLog;
  /** Asked about facts whose names the event log wants, only. */
  readonly eventsOfFacts: (facts: readonly Fact[], header: BlockHeader) => Event[];
  readonly eventsOfRevert: (block: Block, wallets: readonly Wallet[]) => Event[];
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Called with the error that a listener threw. */
  readonly onListenerError: (error: unknown) => void;
  /** Called with what refused a block although no rule did, such as a state that cannot be read. */
  readonly onUnexpectedError?: (error: unknown, header: BlockHeader) => void;
};

export type Chain = {
  head(): BlockHeader;
  /** The consensus state at the head. */
  readonly state: StateReader;
  readonly blocks: Pick<BlockStore, "header" | "headerById" | "block" | "bytes">;
  /** Those among the transaction ids that are on the chain. */
  storedIds(ids: readonly string[]): string[];
  /**
   * Takes blocks that follow one another, up to the first that is not accepted. Each may be serialized or a value; the
   * checks are the same. The answer, one for each block, comes when the accepted ones are on disk.
   *
   * @throws {ChainError} CHAIN_COMMIT_FAILED: some of the blocks may have been accepted, see `head`; CHAIN_CLOSED
   */
  accept(blocks: readonly BlockInput[]): Promise<Outcome[]>;
  /**
   * Removes all blocks above the height, after the batches that came before.
   *
   * @throws {ChainError} CHAIN_HEIGHT_UNKNOWN, CHAIN_UNDO_MISSING, CHAIN_COMMIT_FAILED, CHAIN_CLOSED
   */
  revertTo(height: number): Promise<void>;
  /**
   * Switches from all blocks above the height to a longer branch, in one commit. The answer is the outcome of each of
   * its blocks up to the first that is not accepted: if there is one, the chain stays as it was.
   *
   * @param onHeader called before the switch with each header of the branch that could be read; it may be invalid
   * @throws {ChainError} as `revertTo`; CHAIN_BRANCH_SHORT
   */
  switchTo(
    height: number,
    branch: readonly BlockInput[],
    onHeader?: (header: BlockHeader) => void,
  ): Promise<Outcome[]>;
  /**
   * The same with blocks that this node makes one after another, each when the one before is the head. `make` is given
   * the transactions of the blocks that leave, and must not wait for anything.
   *
   * @throws {ChainError} as `switchTo`; whatever `make` throws, after which the chain stays as it was
   */
  forgeFrom(
    height: number,
    make: (returned: readonly SealedTransaction[]) => EncodedBlock | undefined,
  ): Promise<void>;
  /** The listener is called after every commit; see `Subscribers`. */
  subscribe(listener: ChainListener): () => void;
  /** Settles when everything handed over before was answered; nothing is taken any more. */
  close(): Promise<void>;
};

/**
 * Opens the chain in a migrated database; an empty one gets the genesis block.
 *
 * @throws {ChainError} CHAIN_NETWORK_MISMATCH, CHAIN_GENESIS_MISMATCH
 */
export function createChain(options: ChainOptions, deps: ChainDeps): Chain {
  const { database, network, events } = deps;
  const stores: ChainStores = {
    database,
    events,
    meta: createMetaStore(database),
    blocks: createBlockStore(database),
    transactions: createTransactionStore(database),
    state: createStateStore(database, options),
    undo: createUndoStore(database),
  };
  const { state, blocks, transactions } = stores;
  let head = openHead(stores, network, deps.genesis);
  const executor = createExecutor({
    network,
    state,
    isBlockStored: (id) => blocks.headerById(id) !== undefined,
    isTransactionStored: (id) => transactions.storedIds([id]).length > 0,
    onUnexpectedError: deps.onUnexpectedError ?? (() => {}),
  });
  const tip = createTip(head, { executor, stores, eventsOfFacts: deps.eventsOfFacts });
  const { subscribe, notify: announce } = createSubscribers<ChainChange>(deps.onListenerError);

  const queue = createBlockQueue({ prepare: (part) => prepare(part, deps), execute });
  let isClosed = false;

  /** A failure undoes all of it. */
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
      tip.forget(head);
      const failure = commitFailed(`the blocks after ${head.height}`, cause);
      for (const batch of batches) failBatch(batch, failure);
      return;
    }
    if (executed.length > 0) {
      head = tip.header();
      announce({ head, applied: executed, revertedBlocks: 0, returned: [] });
    }
    for (const batch of batches) settleBatch(batch);
  }

  function executePart(
    { batch, blocks: { length }, prepared = [] }: BatchPart,
    executed: ExecutedBlock[],
  ): void {
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
    return tip.append(prepared, executed);
  }

  /** Replaces the blocks above a height by those that extend the chain there, if any do. */
  function replace(target: number, extend: Extend): void {
    const { undoDepth, maxReturnedTransactions: maxReturned } = options;
    if (!Number.isInteger(target) || target < 1 || target > head.height) {
      throw new ChainError("CHAIN_HEIGHT_UNKNOWN", `there is no block ${target} to go back to`);
    }
    let change: ChainChange;
    try {
      const { eventsOfRevert } = deps;
      change = replaceBlocks(stores, tip, { target, maxReturned, eventsOfRevert, undoDepth }, extend);
    } catch (cause) {
      tip.forget(head);
      throw cause;
    }
    head = tip.header();
    announce(change);
  }

  /** Does something between two batches. */
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
    storedIds: transactions.storedIds,
    async accept(given) {
      if (isClosed) throw closedError();
      if (given.length === 0) return [];
      const batch = createBatch(given);
      queue.add(splitBatch(batch, given));
      return batch.answer.promise;
    },
    revertTo: (target) =>
      between(() => {
        if (target !== head.height) named(`the revert to ${target}`, () => replace(target, () => {}));
      }),
    async switchTo(target, branch, onHeader = () => {}) {
      if (isClosed) throw closedError();
      const prepared = await prepareBranch(branch, deps);
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
    throw cause instanceof ChainError ? cause : commitFailed(what, cause);
  }
}

const closedError = () => new ChainError("CHAIN_CLOSED", "the chain was closed");

const branchShort = (top: number, height: number) =>
  new ChainError("CHAIN_BRANCH_SHORT", `the branch ends at ${top}, and the chain is at ${height} already`);

const commitFailed = (what: string, cause: unknown) =>
  new ChainError("CHAIN_COMMIT_FAILED", `${what} could not be committed: ${messageOf(cause)}`, { cause });

const messageOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause));
