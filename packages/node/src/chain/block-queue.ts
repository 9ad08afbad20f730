/**
 * Work of the chain's only writer, in order. Blocks that were submitted together are a batch, which passes through the
 * pipeline in parts; these are received and verified before the writer reaches them.
 */
import { setImmediate as nextTick } from "node:timers/promises";
import type { BlockHeader, Network } from "@uniknode/protocol";
import type { Steps, TimeSlices } from "../platform/threads/time-slices.ts";
import type { Outcome } from "./outcome.ts";
import {
  type BlockInput,
  inputByteLength,
  type ReceivedBlock,
  receiveGradually,
} from "./pipeline/receive.ts";
import { type VerifiedBlock, type VerifyDeps, verifyBlocks } from "./pipeline/verify.ts";

/** Returns true if the signatures of a block are assumed to be valid, by its header. */
type Assumes = (header: BlockHeader) => boolean;

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

export type PrepareDeps = VerifyDeps & {
  /** Decodes the blocks of all parts, in their order. */
  readonly slices: TimeSlices;
};

/** Time for decoding blocks in an event-loop tick; a step is a few transactions, or a part of empty blocks. */
export const DECODING_SLICE_MS = 10;

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
type Job = { readonly run: () => void };

/** Maximum number of parts in one commit: about 2,000 empty blocks, or 2,400 transactions. */
const COMMIT_PARTS = 16;
/** A commit begins no further part after this time: a part can be a block of 500 transactions with 128 payments each. */
const COMMIT_MS = 100;
/** Parts to prefetch (read and verify): enough to keep the verifier threads busy during a commit. */
const PREFETCHED_PARTS = 40;

export class BlockQueue {
  readonly #preparing: PrepareDeps;
  readonly #write: (parts: Iterable<BatchPart>) => void;
  readonly #entries: (BatchPart | Job)[] = [];
  #working: Promise<void> | undefined;

  /** @param write executes and commits prepared parts, all in one tick of the event loop */
  constructor(preparing: PrepareDeps, write: (parts: Iterable<BatchPart>) => void) {
    this.#preparing = preparing;
    this.#write = write;
  }

  add(added: readonly (BatchPart | Job)[]): void {
    this.#entries.push(...added);
    // The tick that adds a full block may have selected its transactions, and signed it.
    this.#working ??= nextTick()
      .then(() => this.#work())
      .finally(() => {
        this.#working = undefined;
      });
  }

  isBusy(): boolean {
    return this.#working !== undefined;
  }

  /** Settles when everything that was added is done. */
  async idle(): Promise<void> {
    return this.#working;
  }

  async #work(): Promise<void> {
    for (let entry = this.#entries[0]; entry; entry = this.#entries[0]) {
      this.#prefetch();
      if (isPart(entry)) {
        await Promise.all(this.#leadingParts(COMMIT_PARTS).map((part) => part.preparing));
        this.#write(this.#readyParts());
      } else {
        this.#entries.shift();
        entry.run();
      }
      // Yields to messages of the verifier, timers and sockets between two commits.
      await nextTick();
    }
  }

  #prefetch(): void {
    for (const part of this.#leadingParts(PREFETCHED_PARTS)) prepare(part, this.#preparing);
  }

  /** Parts before the next job. */
  #leadingParts(limit: number): BatchPart[] {
    const leading = this.#entries.slice(0, limit);
    const end = leading.findIndex((entry) => !isPart(entry));
    return (end === -1 ? leading : leading.slice(0, end)) as BatchPart[];
  }

  /** Removes the parts of one commit, whose preparation has ended, and prefetches others. */
  *#readyParts(): Iterable<BatchPart> {
    const endMs = performance.now() + COMMIT_MS;
    for (const [index, part] of this.#leadingParts(COMMIT_PARTS).entries()) {
      if (!part.prepared || (index > 0 && performance.now() >= endMs)) return;
      this.#entries.shift();
      yield part;
      this.#prefetch();
    }
  }
}

const isPart = (entry: BatchPart | Job): entry is BatchPart => "batch" in entry;

/** Reads and verifies all blocks of a branch like a batch; all of them stay in memory. */
export async function prepareBranch(
  blocks: readonly BlockInput[],
  deps: PrepareDeps,
): Promise<PreparedBlock[]> {
  const batch = createBatch(blocks);
  const parts = splitBatch(batch, blocks);
  for (let first = 0; first < parts.length && !batch.isStopped; first += PREFETCHED_PARTS) {
    const some = parts.slice(first, first + PREFETCHED_PARTS);
    for (const part of some) prepare(part, deps);
    await Promise.all(some.map(({ preparing }) => preparing));
  }
  if (batch.failure !== undefined) throw batch.failure;
  return parts.flatMap(({ prepared = [] }) => prepared);
}

/** Begins the preparation of a part if it has not begun. */
function prepare(part: BatchPart, deps: PrepareDeps): void {
  const { batch, blocks } = part;
  const isSkipped = batch.isStopped || batch.signal?.aborted;
  part.preparing ??= prepareBlocks(isSkipped ? [] : blocks, deps, batch.assumes).then(
    (prepared) => {
      part.prepared = prepared;
    },
    (error: unknown) => {
      // The verifier failed: the blocks have no verdict.
      batch.failure ??= error;
      batch.isStopped = true;
      part.prepared = [];
    },
  );
}

async function prepareBlocks(
  blocks: readonly BlockInput[],
  deps: PrepareDeps,
  assumes: Assumes,
): Promise<PreparedBlock[]> {
  if (blocks.length === 0) return [];
  const { received, failure } = await deps.slices.run(receiveEach(blocks, deps.network));
  const verified = await verifyBlocks(received, deps, assumes);
  return failure ? [...verified, failure] : verified;
}

type Received = { readonly received: readonly ReceivedBlock[]; readonly failure?: Error };

/** Blocks after an unreadable one are omitted: the batch stops there. */
function* receiveEach(blocks: readonly BlockInput[], network: Network): Steps<Received> {
  const received: ReceivedBlock[] = [];
  for (const block of blocks) {
    try {
      received.push(yield* receiveGradually(block, network));
    } catch (error) {
      return { received, failure: error as Error };
    }
  }
  return { received };
}
