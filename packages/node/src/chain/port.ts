/** The chain as other rooms use it, and what it needs from them. */
import type { StateReader, Wallet } from "@uniknode/ledger";
import type { Block, BlockHeader, EncodedBlock, Network, SealedTransaction } from "@uniknode/protocol";
import type { BlockFact } from "../events/block-events.ts";
import type { Event } from "../events/event.ts";
import type { BlockStore } from "../store/chain/blocks.ts";
import type { Database } from "../store/engine/database.ts";
import type { EventLog } from "../store/events/event-log.ts";
import type { Verifier } from "../verification/verifier.ts";
import type { RecordedSignatures } from "../verification/wallet-signatures.ts";
import type { Pin, PinNews } from "./assumption.ts";
import type { ChainChange, Outcome } from "./outcome.ts";
import type { BlockInput } from "./pipeline/receive.ts";
import type { WriterOptions } from "./writer.ts";

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
   * Like `accept`, for blocks of the past: signatures up to the pin are assumed to be valid, and blocks far below the
   * target get no undo records.
   */
  acceptFetched(blocks: readonly BlockInput[], options?: FetchedOptions): Promise<Outcome[]>;
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
  /** Returns false if undo records are missing for the revert to a height. */
  canRevertTo(height: number): boolean;
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
  subscribe(listener: (change: ChainChange) => void): () => void;
  /** Settles when all queued work has an outcome. Further calls are rejected. */
  close(): Promise<void>;
};
