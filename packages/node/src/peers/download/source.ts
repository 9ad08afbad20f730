/** Fetches blocks from one peer, and divides a download into chunks: which blocks to request from which source, and which to submit next. */
import { setImmediate as nextTick } from "node:timers/promises";
import { type BlockParts, hexToBytes, type Network } from "@uniknode/protocol";
import { type FetchedBlock, inputByteLength } from "../../chain/pipeline/receive.ts";
import { encodedHeaderFromPeer } from "../peer-table.ts";
import type { PeerClient } from "../transport/client.ts";
import {
  blocksMessageBytes,
  CLIENT_MESSAGE_BYTES,
  MAX_BLOCKS,
  MAX_PACKED_BLOCKS,
  TIMES_MS,
} from "../wire/limits.ts";
import type { ReceivedBlock } from "../wire/replies.ts";

export type Source = {
  readonly ip: string;
  /** Its claimed height. */
  readonly height: number;
  /** True if the peer supports the additive events, which do not have the limits of old nodes. */
  readonly isUniknode: boolean;
};

/** Blocks after a height, at most `limit`, possibly fewer. @throws {PeerError | WireError} */
export type Fetch = (source: Source, after: number, limit: number) => Promise<FetchedBlock[]>;

/** Blocks to request from a source at a time. */
export const chunkSizeOf = ({ isUniknode }: Source): number => (isUniknode ? MAX_PACKED_BLOCKS : MAX_BLOCKS);

/** Up to this number, the timeout is shorter: such requests are made near the head, where forgers wait for them. */
const FEW_BLOCKS = 10;

export function createFetch(request: PeerClient["request"], network: Network): Fetch {
  return async ({ ip, isUniknode }, lastBlockHeight, blockLimit) => {
    const timeoutMs = blockLimit <= FEW_BLOCKS ? TIMES_MS.fewBlocksReply : TIMES_MS.blocksReply;
    if (isUniknode) {
      const limits = { timeoutMs, maxBytes: CLIENT_MESSAGE_BYTES.blocks };
      const blocks = await request(ip, "uniknode.peer.getBlocks", { lastBlockHeight, blockLimit }, limits);
      return blocks.slice(0, blockLimit);
    }
    const limits = { timeoutMs, maxBytes: blocksMessageBytes(blockLimit, false) };
    const argument = { lastBlockHeight, blockLimit, serialized: true };
    const received = await request(ip, "p2p.peer.getBlocks", argument, limits);
    return toParts(received.slice(0, blockLimit), network);
  };
}

/** Time that a tick of the event loop may spend on the blocks of one source. */
const SLICE_MS = 4;

async function toParts(received: readonly ReceivedBlock[], network: Network): Promise<BlockParts[]> {
  const parts: BlockParts[] = [];
  const pace = new Pace();
  for (const block of received) parts.push(await toBlockParts(block, network, pace));
  return parts;
}

/** Divides work into slices. */
class Pace {
  #startedAt = performance.now();

  isOver(): boolean {
    return performance.now() - this.#startedAt >= SLICE_MS;
  }

  async nextSlice(): Promise<void> {
    await nextTick();
    this.#startedAt = performance.now();
  }
}

/** A missing number of transactions is filled in. */
async function toBlockParts(
  { transactions = [], ...fields }: ReceivedBlock,
  network: Network,
  pace: Pace,
): Promise<BlockParts> {
  const encoded = encodedHeaderFromPeer({ numberOfTransactions: transactions.length, ...fields }, network);
  const { maxTransactions } = network.milestoneAt(encoded.header.height).block;
  const transactionBytes: Uint8Array[] = [];
  // A block with more transactions is refused: the rest of them is not decoded.
  for (const text of transactions.slice(0, maxTransactions + 1)) {
    if (pace.isOver()) await pace.nextSlice();
    transactionBytes.push(hexToBytes(text));
  }
  return { ...encoded, transactionBytes };
}

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

/** Bytes of received blocks that are not on the chain yet; the next chunk may exceed them. */
const MAX_BUFFERED_BYTES = 64 * 1024 * 1024;
/** A chunk is slow after this many times the median duration; another source is then requested. */
const SLOW_FACTOR = 4;
/** No chunk is slow before this time. */
const MIN_SLOW_MS = 2_000;
/** A chunk is slow after this time while no median is known. */
const FIRST_SLOW_MS = 4_000;
/** Number of durations for the median. */
const MAX_DURATIONS = 31;

/** Chunks of the blocks after a height, up to another. */
export class Chunks {
  /** Height of the last block of the download. */
  readonly to: number;
  /** Everything up to this height was submitted to the chain. */
  submitted: number;
  /** Chunks that are not submitted, by `after`. */
  readonly #open = new Map<number, Chunk>();
  /** Ranges that must be fetched again: end by beginning. */
  readonly #gaps = new Map<number, number>();
  /** Everything up to this height was assigned to sources. */
  #assigned: number;
  /** Submitted chunks without an outcome. */
  #inExecution = 0;
  #bufferedBytes = 0;
  /** Milliseconds of the last requests, the oldest first. */
  readonly #durations: number[] = [];

  constructor({ after, to }: { readonly after: number; readonly to: number }) {
    this.to = to;
    this.#assigned = after;
    this.submitted = after;
  }

  /** The chunk to request from this source next. */
  next(source: Source): Chunk | undefined {
    return this.#slowChunk(source) ?? this.#unassignedChunk(source);
  }

  /** The lowest pending chunk, if it is slow: everything above waits for it. */
  #slowChunk(source: Source): Chunk | undefined {
    const open = this.#open;
    const pending = [...open.values()].filter(({ received }) => !received);
    if (pending.length === 0) return undefined;
    const chunk = pending.reduce((one, other) => (other.after < one.after ? other : one));
    const median = medianOf(this.#durations);
    const slowMs = median === undefined ? FIRST_SLOW_MS : Math.max(MIN_SLOW_MS, SLOW_FACTOR * median);
    const isSlow = performance.now() - chunk.requestedAt > slowMs;
    const { requestedFrom } = chunk;
    const isTaken = requestedFrom.size > 1 || requestedFrom.has(source);
    if (!isSlow || isTaken || source.height < chunk.to) return undefined;
    requestedFrom.add(source);
    return chunk;
  }

  /** The lowest unassigned chunk that this source has. */
  #unassignedChunk(source: Source): Chunk | undefined {
    const gaps = this.#gaps;
    const [gap] = [...gaps.keys()].filter((from) => from < source.height).sort((a, b) => a - b);
    const from = gap ?? this.#assigned;
    // The next chunk is fetched beyond the bound, unless the chain is busy.
    const isNeeded = from === this.submitted && this.#inExecution === 0;
    if (this.#bufferedBytes > MAX_BUFFERED_BYTES && !isNeeded) return undefined;
    const limit = (gap === undefined ? undefined : gaps.get(gap)) ?? this.to;
    const end = Math.min(limit, source.height, from + chunkSizeOf(source));
    if (end <= from) return undefined;
    if (gap === undefined) this.#assigned = end;
    else fillGap(gaps, gap, end);
    const chunk: Chunk = {
      after: from,
      to: end,
      requestedAt: performance.now(),
      requestedFrom: new Set([source]),
    };
    this.#open.set(from, chunk);
    return chunk;
  }

  /**
   * Takes a reply, which may have fewer blocks than requested. False if another source was faster.
   *
   * @param durationMs of the request
   * @throws {Error} if the reply has no blocks
   */
  receive(chunk: Chunk, { source, blocks }: ReceivedBlocks, durationMs: number): boolean {
    if (chunk.received) return false;
    if (blocks.length === 0) throw new Error("it does not send the blocks that it claims");
    const end = Math.min(chunk.after + blocks.length, chunk.to);
    if (end < chunk.to) this.#gaps.set(end, chunk.to);
    chunk.to = end;
    chunk.received = { source, blocks: blocks.slice(0, end - chunk.after) };
    this.#bufferedBytes += bytesOf(chunk.received.blocks);
    this.#durations.push(durationMs);
    if (this.#durations.length > MAX_DURATIONS) this.#durations.shift();
    return true;
  }

  /** Offers a chunk to other sources, since a source failed to send it. */
  release(chunk: Chunk, source: Source): void {
    chunk.requestedFrom.delete(source);
    if (chunk.received || chunk.requestedFrom.size > 0) return;
    this.#open.delete(chunk.after);
    this.#gaps.set(chunk.after, chunk.to);
  }

  /** Returns the blocks to submit next, which count as in execution from here on; undefined if they are not received. */
  takeReceived(): ReceivedBlocks | undefined {
    const chunk = this.#open.get(this.submitted);
    if (!chunk?.received) return undefined;
    this.#open.delete(this.submitted);
    this.submitted = chunk.to;
    this.#inExecution++;
    return chunk.received;
  }

  /** The blocks of a submission have outcomes. */
  markExecuted({ blocks }: ReceivedBlocks): void {
    this.#inExecution--;
    this.#bufferedBytes -= bytesOf(blocks);
  }
}

/** Undefined before the first duration. */
const medianOf = (durations: readonly number[]): number | undefined =>
  durations.toSorted((a, b) => a - b)[Math.floor(durations.length / 2)];

/** Fills a gap up to a height. */
function fillGap(gaps: Map<number, number>, gap: number, filled: number): void {
  const end = gaps.get(gap);
  gaps.delete(gap);
  if (end !== undefined && filled < end) gaps.set(filled, end);
}

const bytesOf = (blocks: readonly FetchedBlock[]) =>
  blocks.reduce((total, block) => total + inputByteLength(block), 0);
