/** The chunks of a download: which blocks to request from which source, and which to submit next. */
import { type FetchedBlock, inputByteLength } from "../../chain/pipeline/receive.ts";
import { chunkSizeOf, type Source } from "./source.ts";

/** Blocks after `after` up to `to`, requested from a source. */
export type Chunk = {
  readonly after: number;
  to: number;
  /** Time of the first request: milliseconds of a monotonic clock. */
  readonly requestedAt: number;
  /** Sources of the requests under way: a second one if the first is slow. */
  readonly requestedFrom: Set<Source>;
  /** The first reply. */
  received?: ReceivedBlocks;
};

export type ReceivedBlocks = { readonly source: Source; readonly blocks: readonly FetchedBlock[] };

export type Chunks = {
  /** Height of the last block of the download. */
  readonly to: number;
  /** Chunks that are not submitted, by `after`. */
  readonly open: Map<number, Chunk>;
  /** Ranges that must be fetched again: end by beginning. */
  readonly gaps: Map<number, number>;
  /** Everything up to this height was assigned to sources. */
  assigned: number;
  /** Everything up to this height was submitted to the chain. */
  submitted: number;
  /** Submitted chunks without an outcome. */
  inExecution: number;
  bufferedBytes: number;
  /** Milliseconds of the last requests, the oldest first. */
  readonly durations: number[];
};

/** Bytes of received blocks that are not on the chain yet; the next chunk may exceed them. */
const MAX_BUFFERED_BYTES = 64 * 1024 * 1024;
/** A chunk is slow after this many times the median duration; another source is then requested ... */
const SLOW_FACTOR = 4;
/** ... but not before this time ... */
const MIN_SLOW_MS = 2_000;
/** ... and after this time if there is no median yet. */
const FIRST_SLOW_MS = 4_000;
/** Number of durations for the median. */
const MAX_DURATIONS = 31;

/** Chunks of the blocks after a height, up to another. */
export const createChunks = ({ after, to }: { readonly after: number; readonly to: number }): Chunks => ({
  to,
  open: new Map(),
  gaps: new Map(),
  assigned: after,
  submitted: after,
  inExecution: 0,
  bufferedBytes: 0,
  durations: [],
});

/** The chunk to request from this source next. */
export const nextChunk = (chunks: Chunks, source: Source): Chunk | undefined =>
  slowChunk(chunks, source) ?? unassignedChunk(chunks, source);

/** The lowest pending chunk, if it is slow: everything above waits for it. */
function slowChunk({ open, durations }: Chunks, source: Source): Chunk | undefined {
  const pending = [...open.values()].filter(({ received }) => !received);
  if (pending.length === 0) return undefined;
  const chunk = pending.reduce((one, other) => (other.after < one.after ? other : one));
  const median = medianOf(durations);
  const slowMs = median === undefined ? FIRST_SLOW_MS : Math.max(MIN_SLOW_MS, SLOW_FACTOR * median);
  const isSlow = performance.now() - chunk.requestedAt > slowMs;
  const { requestedFrom } = chunk;
  const isTaken = requestedFrom.size > 1 || requestedFrom.has(source);
  if (!isSlow || isTaken || source.height < chunk.to) return undefined;
  requestedFrom.add(source);
  return chunk;
}

/** Undefined before the first duration. */
const medianOf = (durations: readonly number[]): number | undefined =>
  durations.toSorted((a, b) => a - b)[Math.floor(durations.length / 2)];

/** The lowest unassigned chunk that this source has. */
function unassignedChunk(chunks: Chunks, source: Source): Chunk | undefined {
  const { gaps } = chunks;
  const [gap] = [...gaps.keys()].filter((from) => from < source.height).sort((a, b) => a - b);
  const from = gap ?? chunks.assigned;
  // The next chunk is fetched beyond the bound, unless the chain is busy.
  const isNeeded = from === chunks.submitted && chunks.inExecution === 0;
  if (chunks.bufferedBytes > MAX_BUFFERED_BYTES && !isNeeded) return undefined;
  const limit = (gap === undefined ? undefined : gaps.get(gap)) ?? chunks.to;
  const end = Math.min(limit, source.height, from + chunkSizeOf(source));
  if (end <= from) return undefined;
  if (gap === undefined) chunks.assigned = end;
  else fillGap(gaps, gap, end);
  const chunk: Chunk = {
    after: from,
    to: end,
    requestedAt: performance.now(),
    requestedFrom: new Set([source]),
  };
  chunks.open.set(from, chunk);
  return chunk;
}

/** Fills a gap up to a height. */
function fillGap(gaps: Map<number, number>, gap: number, filled: number): void {
  const end = gaps.get(gap);
  gaps.delete(gap);
  if (end !== undefined && filled < end) gaps.set(filled, end);
}

/**
 * Takes a reply, which may have fewer blocks than requested. False if another source was faster.
 *
 * @param durationMs of the request
 * @throws {Error} if the reply has no blocks
 */
export function receiveChunk(
  chunks: Chunks,
  chunk: Chunk,
  { source, blocks }: ReceivedBlocks,
  durationMs: number,
): boolean {
  if (chunk.received) return false;
  if (blocks.length === 0) throw new Error("it does not send the blocks that it claims");
  const end = Math.min(chunk.after + blocks.length, chunk.to);
  if (end < chunk.to) chunks.gaps.set(end, chunk.to);
  chunk.to = end;
  chunk.received = { source, blocks: blocks.slice(0, end - chunk.after) };
  chunks.bufferedBytes += bytesOf(chunk.received.blocks);
  chunks.durations.push(durationMs);
  if (chunks.durations.length > MAX_DURATIONS) chunks.durations.shift();
  return true;
}

/** Offers a chunk to other sources, since a source failed to send it. */
export function releaseChunk({ open, gaps }: Chunks, chunk: Chunk, source: Source): void {
  chunk.requestedFrom.delete(source);
  if (chunk.received || chunk.requestedFrom.size > 0) return;
  open.delete(chunk.after);
  gaps.set(chunk.after, chunk.to);
}

/** Returns the blocks to submit next, which count as in execution from here on; undefined if they are not received. */
export function takeReceived(chunks: Chunks): ReceivedBlocks | undefined {
  const chunk = chunks.open.get(chunks.submitted);
  if (!chunk?.received) return undefined;
  chunks.open.delete(chunks.submitted);
  chunks.submitted = chunk.to;
  chunks.inExecution++;
  return chunk.received;
}

/** The blocks of a submission have outcomes. */
export function markExecuted(chunks: Chunks, { blocks }: ReceivedBlocks): void {
  chunks.inExecution--;
  chunks.bufferedBytes -= bytesOf(blocks);
}

const bytesOf = (blocks: readonly FetchedBlock[]) =>
  blocks.reduce((total, block) => total + inputByteLength(block), 0);
