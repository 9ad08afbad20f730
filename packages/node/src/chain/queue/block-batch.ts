/** Blocks that were submitted together. They pass through the pipeline in parts. */
import type { BlockHeader } from "@uniknode/protocol";
import type { Outcome } from "../outcome.ts";
import { type BlockInput, inputByteLength } from "../pipeline/receive.ts";
import type { VerifiedBlock } from "../pipeline/verify.ts";

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
