/**
 * The chain of this node: a single writer that processes batches of blocks and reverts one after another,
 * while later blocks are already being read and verified (decision 6).
 */
import type { StateReader, Wallet } from "@uniknode/ledger";
import {
  type Block,
  type BlockHeader,
  createSlots,
  type EncodedBlock,
  type Network,
  type SealedTransaction,
} from "@uniknode/protocol";
import type { BlockFact } from "../events/block-events.ts";
import type { Event } from "../events/catalogue.ts";
import { type Subscribe, Subscribers } from "../platform/notifier.ts";
import { TimeSlices } from "../platform/threads/time-slices.ts";
import type { BlockStore } from "../store/chain/blocks.ts";
import type { Database } from "../store/engine/database.ts";
import type { EventLog } from "../store/events/event-log.ts";
import type { Verifier } from "../verification/verifier.ts";
import type { RecordedSignatures } from "../verification/wallet-signatures.ts";
import type { Pin, PinNews } from "./assumption.ts";
import {
  type BatchOptions,
  BlockQueue,
  createBatch,
  DECODING_SLICE_MS,
  type PrepareDeps,
  prepareBranch,
  splitBatch,
} from "./block-queue.ts";
import { asChainError, type ChainChange, ChainError, type Outcome, refusalOf } from "./outcome.ts";
import { createUndoRule, discardUnchecked } from "./pipeline/commit.ts";
import { Executor } from "./pipeline/execute.ts";
import type { BlockInput } from "./pipeline/receive.ts";
import { forgedBlock, type VerifiedBlock } from "./pipeline/verify.ts";
import { type ChainStores, openHead, openStores } from "./stores.ts";
import { Writer, type WriterOptions } from "./writer.ts";

export type ChainOptions = WriterOptions & {
  /** Records of each state table that are kept in memory. */
  readonly cacheSize: number;
  /** Blocks whose changes are kept for mirrors; 0: none. */
  readonly feedBlocks: number;
  /** True if earlier states are recorded. If false, the records of earlier runs are removed. */
  readonly recordsHistory: boolean;
};

export const DEFAULT_CHAIN_OPTIONS: ChainOptions = {
  cacheSize: 20_000,
  feedBlocks: 0,
  recordsHistory: false,
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
  readonly eventsOfFacts: (facts: readonly BlockFact[], header: BlockHeader) => Event[];
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

export type FetchedOptions = {
  /** Skips the blocks that are not executed yet. */
  readonly signal?: AbortSignal | undefined;
  /** Height that the chain will reach, as most sources claim; absent: unknown. */
  readonly targetHeight?: number | undefined;
};

export class Chain {
  /** The consensus state at the head. */
  readonly state: StateReader;
  readonly blocks: Pick<BlockStore, "header" | "headerById" | "block" | "bytes">;
  /** Calls the listener after every commit; see `Subscribers`. */
  readonly subscribe: Subscribe<ChainChange>;
  readonly #deps: ChainDeps;
  readonly #stores: ChainStores;
  readonly #executor: Executor;
  readonly #writer: Writer;
  readonly #preparing: PrepareDeps;
  readonly #queue: BlockQueue;
  #isClosed = false;

  /**
   * Opens the chain in a migrated database; an empty one gets the genesis block.
   *
   * @throws {ChainError} CHAIN_NETWORK_MISMATCH, CHAIN_GENESIS_MISMATCH, CHAIN_UNCHECKED
   */
  constructor(options: ChainOptions, deps: ChainDeps) {
    const { network, genesis, signatures } = deps;
    const stores = openStores(options, deps);
    const opened = openHead(stores, network, genesis);
    const head = stores.assumption.isRefuted() ? discardUnchecked(stores, deps).head : opened;
    const subscribers = new Subscribers<ChainChange>(deps.onListenerError);
    const needsUndo = createUndoRule({ ...options, slots: createSlots(network), now: deps.now });
    this.#deps = deps;
    this.#stores = stores;
    this.state = stores.state;
    this.blocks = stores.blocks;
    this.subscribe = (listener) => subscribers.subscribe(listener);
    this.#executor = new Executor(head, { ...deps, stores });
    this.#writer = new Writer(options, {
      ...deps,
      stores,
      executor: this.#executor,
      notify: (change) => subscribers.notify(change),
      head,
      needsUndo,
    });
    this.#preparing = {
      ...deps,
      slices: new TimeSlices({ sliceMs: DECODING_SLICE_MS }),
      ...(signatures && {
        verifyAhead: (transactions) => signatures.verifyAhead(transactions, stores.state),
      }),
    };
    this.#queue = new BlockQueue(this.#preparing, (parts) => this.#writer.write(parts));
  }

  /** A property, as the next two are, because other parts get it as a function. */
  readonly head = (): BlockHeader => this.#executor.tip();

  /** Returns true while blocks are being processed. */
  readonly isBusy = (): boolean => this.#queue.isBusy();

  /** Returns the transaction ids that are on the chain. */
  readonly storedIds = (ids: readonly string[]): ReadonlySet<string> =>
    new Set(this.#stores.transactions.storedIds(ids));

  /**
   * Appends consecutive blocks up to the first that is refused. Each can be serialized or a value; the checks
   * are the same. Settles with one outcome for each block after the accepted ones are on disk.
   *
   * @throws {ChainError} CHAIN_COMMIT_FAILED, CHAIN_PIN_FAILED: some of the blocks may have been accepted,
   * see `head`;
   *   CHAIN_CLOSED
   */
  async accept(blocks: readonly BlockInput[], options: BatchOptions = {}): Promise<Outcome[]> {
    if (this.#isClosed) throw closedError();
    if (blocks.length === 0) return [];
    const batch = createBatch(blocks, options);
    this.#queue.add(splitBatch(batch, blocks));
    return batch.result.promise;
  }

  /**
   * Does the same as `accept` for blocks of the past: signatures up to the pin are assumed to be valid, and blocks far below the
   * target get no undo records.
   */
  acceptFetched(
    blocks: readonly BlockInput[],
    { signal, targetHeight = 0 }: FetchedOptions = {},
  ): Promise<Outcome[]> {
    const { assumption } = this.#stores;
    return this.accept(blocks, {
      assumes: (header) => assumption.covers(header),
      signal,
      targetHeight: Math.max(targetHeight, assumption.pin()?.height ?? 0),
    });
  }

  /** Returns the number of blocks reverted since the process started. */
  revertedBlocks(): number {
    return this.#writer.revertedBlocks;
  }

  /**
   * The pin in force, and the first block whose signatures were not checked, until the chain contains the
   * pinned block.
   */
  assumption(): { readonly pin: Pin | undefined; readonly uncheckedFrom: number | undefined } {
    const { assumption } = this.#stores;
    return { pin: assumption.pin(), uncheckedFrom: assumption.uncheckedFrom() };
  }

  /**
   * Removes the blocks whose signatures were not checked, and checks all blocks from then on. False if there
   * are none.
   *
   * @throws {ChainError} CHAIN_COMMIT_FAILED, CHAIN_CLOSED
   */
  discardUnchecked(): Promise<boolean> {
    return this.#between("the end of the unchecked blocks", () => {
      const { pin, uncheckedFrom } = this.assumption();
      if (!pin || uncheckedFrom === undefined) return false;
      this.#writer.discardAbovePin(pin);
      return true;
    });
  }

  /** Returns false if undo records are missing for the revert to a height. */
  canRevertTo(height: number): boolean {
    return height === this.head().height || this.#stores.undo.has(height + 1);
  }

  /**
   * Removes all blocks above the height, after the batches that were queued before.
   *
   * @throws {ChainError} CHAIN_HEIGHT_UNKNOWN, CHAIN_UNDO_MISSING, CHAIN_COMMIT_FAILED, CHAIN_CLOSED
   */
  revertTo(height: number): Promise<void> {
    return this.#between(`the revert to ${height}`, () => {
      if (height !== this.head().height) this.#writer.replaceAbove(height, () => {});
    });
  }

  /**
   * Switches from all blocks above the height to a longer branch, in one commit. Settles with the outcome of
   * each block of the branch up to the first that is refused. If one is refused, the chain stays as it was; it is not even reverted
   * for a block that is wrong in any state.
   *
   * @param onHeader called before the switch with the header of each block of the branch that is signed
   * @throws {ChainError} as `revertTo`; CHAIN_BRANCH_SHORT
   */
  async switchTo(
    height: number,
    branch: readonly BlockInput[],
    onHeader: (header: BlockHeader) => void = () => {},
  ): Promise<Outcome[]> {
    if (this.#isClosed) throw closedError();
    const prepared = await prepareBranch(branch, this.#preparing);
    for (const block of prepared) {
      if (!(block instanceof Error) && isSigned(block)) onHeader(block.block.header);
    }
    return this.#between(`the branch after ${height}`, () => {
      const head = this.head();
      const top = height + branch.length;
      if (top <= head.height) throw branchShort(top, head.height);
      return this.#writer.replaceAll(height, prepared);
    });
  }

  /**
   * Does the same as `switchTo` with blocks that this node creates one after another, each on the one before. `make`
   * receives the transactions of the reverted blocks, and must be synchronous.
   *
   * @throws {ChainError} as `switchTo`; everything that `make` throws, after which the chain stays as it was
   */
  forgeFrom(
    height: number,
    make: (returned: readonly SealedTransaction[]) => EncodedBlock | undefined,
  ): Promise<void> {
    const { network, now } = this.#deps;
    return this.#between(undefined, () =>
      this.#writer.replaceAbove(height, (append, returned) => {
        for (let block = make(returned); block; block = make(returned)) {
          const refusal = refusalOf(append(forgedBlock(block, network, now())));
          if (refusal !== undefined) throw new Error(`block ${block.header.height} was refused: ${refusal}`);
        }
      }),
    );
  }

  /** Settles when all queued work has an outcome. Further calls are rejected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#queue.idle();
  }

  /**
   * Runs a job between two batches.
   *
   * @param what names the operation in an error that is not the chain's own; undefined: such an error stays as it is
   */
  async #between<T>(what: string | undefined, job: () => T): Promise<T> {
    if (this.#isClosed) throw closedError();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const run = () => {
      try {
        resolve(job());
      } catch (cause) {
        reject(what === undefined ? cause : asChainError(what, cause));
      }
    };
    this.#queue.add([{ run }]);
    return promise;
  }
}

const isSigned = ({ faults }: VerifiedBlock) =>
  !faults.some(({ code }) => code === "signature" || code === "exception");

const closedError = () => new ChainError("CHAIN_CLOSED", "the chain was closed");

const branchShort = (top: number, height: number) =>
  new ChainError("CHAIN_BRANCH_SHORT", `the branch ends at ${top}, but the chain is already at ${height}`);
