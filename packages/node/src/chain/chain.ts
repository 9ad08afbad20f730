/**
 * The chain of this node: a single writer that processes batches of blocks and reverts one after another,
 * while later blocks are already being read and verified (decision 6).
 */
import { type BlockHeader, createSlots, type EncodedBlock, type SealedTransaction } from "@uniknode/protocol";
import { createSubscribers } from "../platform/subscribers.ts";
import { createTimeSlices } from "../platform/threads/time-slices.ts";
import { createBlockStore } from "../store/chain/blocks.ts";
import { openFeedChanges } from "../store/chain/feed-changes.ts";
import { createTransactionStore } from "../store/chain/transactions.ts";
import { openHistory } from "../store/history/writer.ts";
import { createMetaStore } from "../store/node/meta.ts";
import { createStateStore } from "../store/state/state.ts";
import { createUndoStore } from "../store/state/undo.ts";
import { openAssumption } from "./assumption.ts";
import {
  type BatchOptions,
  type BlockQueue,
  createBatch,
  createBlockQueue,
  splitBatch,
} from "./block-queue.ts";
import { appendAll, type Extend, forgedBlock, prepareBranch } from "./branch.ts";
import { asChainError, ChainError } from "./error.ts";
import { openHead } from "./genesis.ts";
import { type ChainChange, type Outcome, refusalOf } from "./outcome.ts";
import { createUndoRule } from "./pipeline/commit.ts";
import { createExecutor } from "./pipeline/execute.ts";
import type { BlockInput } from "./pipeline/receive.ts";
import type { Chain, ChainDeps, ChainOptions } from "./port.ts";
import { DECODING_SLICE_MS, type PrepareDeps, prepare } from "./prepare.ts";
import type { ChainStores } from "./stores.ts";
import { discardAbovePin, replaceAbove, type Writer, writeParts } from "./writer.ts";

/**
 * Opens the chain in a migrated database; an empty one gets the genesis block.
 *
 * @throws {ChainError} CHAIN_NETWORK_MISMATCH, CHAIN_GENESIS_MISMATCH, CHAIN_UNCHECKED
 */
export function createChain(options: ChainOptions, deps: ChainDeps): Chain {
  const { network, genesis, signatures, eventsOfRevert, onPin = () => {} } = deps;
  const stores = openStores(options, deps);
  const { assumption, blocks, state } = stores;
  const head = openHead(stores, network, genesis);
  const onUnexpectedError = deps.onUnexpectedError ?? (() => {});
  const executor = createExecutor(head, { ...deps, stores, onUnexpectedError });
  const { subscribe, notify } = createSubscribers<ChainChange>(deps.onListenerError);
  const writer: Writer = {
    ...{ options, network, genesis, stores, executor, eventsOfRevert, notify, onPin, head },
    needsUndo: createUndoRule({ ...options, slots: createSlots(network), now: deps.now }),
  };
  const preparing: PrepareDeps = {
    ...deps,
    slices: createTimeSlices({ sliceMs: DECODING_SLICE_MS }),
    ...(signatures && { verifyAhead: (transactions) => signatures.verifyAhead(transactions, state) }),
  };
  const queue = createBlockQueue({
    prepare: (part) => prepare(part, preparing),
    write: (parts) => writeParts(writer, parts),
  });
  const work: Work = { writer, preparing, queue, isClosed: false };
  return {
    state,
    blocks,
    subscribe,
    head: executor.tip,
    isBusy: queue.isBusy,
    storedIds: stores.transactions.storedIds,
    accept: (given) => take(work, given),
    acceptFetched: (given, { signal, targetHeight = 0 } = {}) =>
      take(work, given, {
        assumes: assumption.covers,
        signal,
        targetHeight: Math.max(targetHeight, assumption.pin()?.height ?? 0),
      }),
    assumption: () => ({ pin: assumption.pin(), uncheckedFrom: assumption.uncheckedFrom() }),
    discardUnchecked: () => between(work, () => discardUncheckedBlocks(writer)),
    canRevertTo: (target) => target === executor.tip().height || stores.undo.has(target + 1),
    revertTo: (target) => between(work, () => revertTo(writer, target)),
    switchTo: (target, branch, onHeader = () => {}) => switchTo(work, target, branch, onHeader),
    forgeFrom: (target, make) =>
      between(work, () => replaceAbove(writer, target, forgeEach(make, { network, now: deps.now }))),
    async close() {
      work.isClosed = true;
      await queue.idle();
    },
  };
}

function openStores(options: ChainOptions, { database, events, assumeValid }: ChainDeps): ChainStores {
  const meta = createMetaStore(database);
  const assumption = openAssumption(meta, assumeValid);
  const blocks = createBlockStore(database);
  return {
    database,
    events,
    meta,
    assumption,
    blocks,
    transactions: createTransactionStore(database),
    state: createStateStore(database, options),
    undo: createUndoStore(database),
    feed: openFeedChanges(database, options.feedBlocks, blocks.head()?.height ?? 0),
    history: openHistory(database, options.recordsHistory),
  };
}

/** The writer and its queue. */
type Work = {
  readonly writer: Writer;
  readonly preparing: PrepareDeps;
  readonly queue: BlockQueue;
  isClosed: boolean;
};

/** Queues blocks; settles with their outcomes. */
async function take(
  { queue, isClosed }: Work,
  given: readonly BlockInput[],
  options: BatchOptions = {},
): Promise<Outcome[]> {
  if (isClosed) throw closedError();
  if (given.length === 0) return [];
  const batch = createBatch(given, options);
  queue.add(splitBatch(batch, given));
  return batch.result.promise;
}

/** Runs a job between two batches. */
async function between<T>({ queue, isClosed }: Work, job: () => T): Promise<T> {
  if (isClosed) throw closedError();
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  queue.add([{ run: () => settleWith({ resolve, reject }, job) }]);
  return promise;
}

function settleWith<T>({ resolve, reject }: Settle<T>, job: () => T): void {
  try {
    resolve(job());
  } catch (error) {
    reject(error);
  }
}

type Settle<T> = Pick<PromiseWithResolvers<T>, "resolve" | "reject">;

/** Returns false if every block was checked. */
function discardUncheckedBlocks(writer: Writer): boolean {
  const { assumption } = writer.stores;
  const pin = assumption.pin();
  if (!pin || assumption.uncheckedFrom() === undefined) return false;
  named("the end of the unchecked blocks", () => discardAbovePin(writer, pin));
  return true;
}

function revertTo(writer: Writer, target: number): void {
  if (target === writer.head.height) return;
  named(`the revert to ${target}`, () => replaceAbove(writer, target, () => {}));
}

async function switchTo(
  work: Work,
  target: number,
  branch: readonly BlockInput[],
  onHeader: (header: BlockHeader) => void,
): Promise<Outcome[]> {
  const { writer, preparing } = work;
  if (work.isClosed) throw closedError();
  const prepared = await prepareBranch(branch, preparing);
  for (const block of prepared) if (!(block instanceof Error)) onHeader(block.block.header);
  return between(work, () => {
    const { height } = writer.head;
    if (target + branch.length <= height) throw branchShort(target + branch.length, height);
    return named(`the branch after ${target}`, () =>
      appendAll(prepared, (extend) => replaceAbove(writer, target, extend)),
    );
  });
}

/** Appends the blocks that `make` returns, each created on the one before, until it returns none. */
const forgeEach =
  (
    make: (returned: readonly SealedTransaction[]) => EncodedBlock | undefined,
    { network, now }: Pick<ChainDeps, "network" | "now">,
  ): Extend =>
  (append, returned) => {
    for (let block = make(returned); block; block = make(returned)) {
      const refusal = refusalOf(append(forgedBlock(block, network, now())));
      if (refusal !== undefined) throw new Error(`block ${block.header.height} was refused: ${refusal}`);
    }
  };

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
