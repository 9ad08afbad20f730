/**
 * Work of the chain's only writer, in order. Blocks that were submitted together are a batch, which passes through the
 * pipeline in parts; these are read and verified before the writer reaches them.
 */
import { setImmediate as nextTick } from "node:timers/promises";
import type { BlockHeader } from "@uniknode/protocol";
import type { Outcome } from "./outcome.ts";
import { type BlockInput, inputByteLength } from "./pipeline/receive.ts";
import type { VerifiedBlock } from "./pipeline/verify.ts";

/** Returns true if the signatures of a block are assumed to be valid, by its header. */
export type Assumes = (header: BlockHeader) => boolean;

/** The blocks of one call, which settle together. */
export type BlockBatch = {
  /** Outcomes of the blocks processed so far. */
  readonly outcomes: Outcome[];
  readonly size: number;
  readonly assumes: Assumes;
  /** Skips the blocks that are not executed yet. */
  readonly signal: AbortSignal | undefined;
  /** Height that the chain will reach, as far as known; 0: unknown. */
  readonly targetHeight: number;
  /** True after a block was refused: the rest is skipped. */
  isStopped: boolean;
  /** Error for which the remaining blocks have no outcome. */
  failure?: unknown;
  readonly result: PromiseWithResolvers<Outcome[]>;
};

/** A block after verification, or the error for which it cannot be read. */
export type PreparedBlock = VerifiedBlock | Error;

/** Consecutive blocks of a batch that are verified at once. */
export type BatchPart = {
  readonly batch: BlockBatch;
  readonly blocks: readonly BlockInput[];
  /** Set when its preparation begins; never rejects. */
  preparing?: Promise<void>;
  prepared?: readonly PreparedBlock[];
};

/** Size of about one batch of signatures: 128 empty blocks, or 3 with 50 transfers. */
const PART_BLOCKS = 128;
const PART_BYTES = 32 * 1024;

export type BatchOptions = Partial<Pick<BlockBatch, "assumes" | "signal" | "targetHeight">>;

export const createBatch = (
  blocks: readonly BlockInput[],
  { assumes = () => false, signal, targetHeight = 0 }: BatchOptions = {},
): BlockBatch => ({
  outcomes: [],
  size: blocks.length,
  assumes,
  signal,
  targetHeight,
  isStopped: false,
  result: Promise.withResolvers(),
});

export function splitBatch(batch: BlockBatch, blocks: readonly BlockInput[]): BatchPart[] {
  const parts: BatchPart[] = [];
  let part: BlockInput[] = [];
  let bytes = 0;
  for (const block of blocks) {
    part.push(block);
    bytes += inputByteLength(block);
    if (part.length < PART_BLOCKS && bytes < PART_BYTES) continue;
    parts.push({ batch, blocks: part });
    part = [];
    bytes = 0;
  }
  if (part.length > 0) parts.push({ batch, blocks: part });
  return parts;
}

/** Rejects the batch at once; its remaining blocks are skipped. */
export function failBatch(batch: BlockBatch, error: unknown): void {
  batch.isStopped = true;
  batch.result.reject(error);
}

/** Settles the batch if all its blocks have an outcome. */
export function settleBatch({ outcomes, size, failure, result }: BlockBatch): void {
  if (outcomes.length < size) return;
  if (failure !== undefined) result.reject(failure);
  else result.resolve(outcomes);
}

/** Other work that is done between two parts, such as a revert; it does not throw. */
export type Job = { readonly run: () => void };

export type BlockQueue = {
  add(entries: readonly (BatchPart | Job)[]): void;
  isBusy(): boolean;
  /** Settles when everything that was added is done. */
  idle(): Promise<void>;
};

export type BlockQueueDeps = {
  /** Begins the preparation of a part if it has not begun. */
  readonly prepare: (part: BatchPart) => void;
  /** Executes and commits prepared parts, all in one tick of the event loop. */
  readonly write: (parts: Iterable<BatchPart>) => void;
};

/** Maximum number of parts in one commit: about 2,000 empty blocks, or 2,400 transactions. */
const COMMIT_PARTS = 16;
/** Parts to prefetch (read and verify): enough to keep the verifier threads busy during a commit. */
export const PREFETCHED_PARTS = 40;

export function createBlockQueue({ prepare, write }: BlockQueueDeps): BlockQueue {
  const entries: (BatchPart | Job)[] = [];
  let working: Promise<void> | undefined;

  async function work(): Promise<void> {
    for (let entry = entries[0]; entry; entry = entries[0]) {
      prefetch();
      if (isPart(entry)) {
        await Promise.all(leadingParts(COMMIT_PARTS).map((part) => part.preparing));
        write(readyParts());
      } else {
        entries.shift();
        entry.run();
      }
      // Yields to messages of the verifier, timers and sockets between two commits.
      await nextTick();
    }
  }

  /** Parts before the next job. */
  function leadingParts(limit: number): BatchPart[] {
    const leading = entries.slice(0, limit);
    const end = leading.findIndex((entry) => !isPart(entry));
    return (end === -1 ? leading : leading.slice(0, end)) as BatchPart[];
  }

  function prefetch(): void {
    for (const part of leadingParts(PREFETCHED_PARTS)) prepare(part);
  }

  /** Removes the parts whose preparation has ended, and prefetches others. */
  function* readyParts(): Iterable<BatchPart> {
    for (let part = entries[0]; part && isPart(part) && part.prepared; part = entries[0]) {
      entries.shift();
      yield part;
      prefetch();
    }
  }

  return {
    add(added) {
      entries.push(...added);
      // The tick that adds a full block may have selected its transactions, and signed it.
      working ??= nextTick()
        .then(work)
        .finally(() => {
          working = undefined;
        });
    },
    isBusy: () => working !== undefined,
    idle: async () => working,
  };
}

const isPart = (entry: BatchPart | Job): entry is BatchPart => "batch" in entry;
