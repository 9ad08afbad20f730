/**
 * Downloads a range of heights from several peers at once. Each source takes the next unassigned chunk; chunks go to
 * the chain in order of height while later ones are still being fetched.
 */
import type { Outcome } from "../../chain/outcome.ts";
import { type FetchedBlock, inputByteLength } from "../../chain/pipeline/receive.ts";
import { chunkSizeOf, type Fetch, type Source } from "./source.ts";

export type DownloadDeps = {
  readonly fetch: Fetch;
  /** Submits blocks to the chain. */
  readonly accept: (blocks: readonly FetchedBlock[], source: Source) => Promise<Outcome[]>;
  /** Called when a source failed to send blocks that it claims. */
  readonly onFailure: (source: Source, error: unknown) => void;
  /** Ends the download early. */
  readonly signal: AbortSignal;
};

export type DownloadResult =
  /** The chain has accepted all blocks. */
  | { readonly kind: "done" }
  /** No source is left that has the next block. */
  | { readonly kind: "exhausted" }
  /** The chain refused a block of this source. */
  | { readonly kind: "refused"; readonly source: Source; readonly outcome: Outcome };

/** Blocks after `after` up to `to`, requested from a source. */
type Chunk = {
  readonly after: number;
  to: number;
  /** Time of the first request: milliseconds of a monotonic clock. */
  readonly requestedAt: number;
  /** Sources of the requests under way: a second one if the first is slow. */
  readonly requestedFrom: Set<Source>;
  /** The first reply. */
  received?: { readonly source: Source; readonly blocks: readonly FetchedBlock[] };
};

/** Bytes of received blocks that are not on the chain yet; the next chunk may exceed them. */
const MAX_BUFFERED_BYTES = 64 * 1024 * 1024;
/**
 * Number of consecutive failures after which a source is no longer used; a reply that is slower than another
 * source's counts as a failure.
 */
const MAX_FAILURES = 2;
/** A chunk is slow after this many times the median duration; another source is then requested ... */
const SLOW_FACTOR = 4;
/** ... but not before this time ... */
const MIN_SLOW_MS = 2_000;
/** ... and after this time if there is no median yet. */
const FIRST_SLOW_MS = 4_000;
/** Interval between checks for slow chunks. */
const POLL_MS = 250;

/** @throws {unknown} what `accept` throws; nothing is submitted after that */
export async function download(
  { after, to }: { readonly after: number; readonly to: number },
  sources: readonly Source[],
  { fetch, accept, onFailure, signal }: DownloadDeps,
): Promise<DownloadResult> {
  /** Chunks that are not submitted, by `after`. */
  const chunks = new Map<number, Chunk>();
  /** Ranges that must be fetched again: end by beginning. */
  const gaps = new Map<number, number>();
  /** Everything up to this height was assigned to sources. */
  let assigned = after;
  /** Everything up to this height was submitted to the chain. */
  let submitted = after;
  let bufferedBytes = 0;
  /** Submitted chunks without an outcome. */
  let inExecution = 0;
  let working = sources.length;
  let refusal: DownloadResult | undefined;
  let failure: { readonly error: unknown } | undefined;
  let change = Promise.withResolvers<void>();
  const durations = createMedian();

  const isFinished = () =>
    refusal !== undefined || failure !== undefined || signal.aborted || submitted >= to;

  function notifyChange(): void {
    const { resolve } = change;
    change = Promise.withResolvers();
    resolve();
  }
  signal.addEventListener("abort", notifyChange, { once: true });

  /** The chunk to request from this source next. */
  const nextChunk = (source: Source): Chunk | undefined => slowChunk(source) ?? unassignedChunk(source);

  /** The lowest pending chunk, if it is slow: everything above waits for it. */
  function slowChunk(source: Source): Chunk | undefined {
    const pending = [...chunks.values()].filter(({ received }) => !received);
    if (pending.length === 0) return undefined;
    const chunk = pending.reduce((one, other) => (other.after < one.after ? other : one));
    const slowMs = Math.max(MIN_SLOW_MS, SLOW_FACTOR * (durations.read() ?? 0));
    const isSlow =
      performance.now() - chunk.requestedAt > (durations.read() === undefined ? FIRST_SLOW_MS : slowMs);
    const { requestedFrom } = chunk;
    const isTaken = requestedFrom.size > 1 || requestedFrom.has(source);
    if (!isSlow || isTaken || source.height < chunk.to) return undefined;
    requestedFrom.add(source);
    return chunk;
  }

  /** The lowest unassigned chunk that this source has. */
  function unassignedChunk(source: Source): Chunk | undefined {
    const [gap] = [...gaps.keys()].filter((from) => from < source.height).sort((a, b) => a - b);
    const from = gap ?? assigned;
    // The next chunk is fetched beyond the bound, unless the chain is busy.
    if (bufferedBytes > MAX_BUFFERED_BYTES && (from !== submitted || inExecution > 0)) return undefined;
    const end = Math.min(gap === undefined ? to : gaps.get(gap)!, source.height, from + chunkSizeOf(source));
    if (end <= from) return undefined;
    if (gap === undefined) assigned = end;
    else fillGap(gap, end);
    const chunk: Chunk = {
      after: from,
      to: end,
      requestedAt: performance.now(),
      requestedFrom: new Set([source]),
    };
    chunks.set(from, chunk);
    return chunk;
  }

  /** Fills a gap up to a height. */
  function fillGap(gap: number, filled: number): void {
    const end = gaps.get(gap)!;
    gaps.delete(gap);
    if (filled < end) gaps.set(filled, end);
  }

  async function work(source: Source): Promise<void> {
    let failures = 0;
    while (!isFinished() && failures < MAX_FAILURES) {
      const chunk = nextChunk(source);
      if (!chunk) {
        // Nothing is left for this source, unless another one fails.
        if (submitted >= source.height) return;
        await Promise.race([change.promise, pause()]);
        continue;
      }
      const requestedAt = performance.now();
      try {
        const isFirst = receive(chunk, source, await fetch(source, chunk.after, chunk.to - chunk.after));
        if (isFirst) durations.add(performance.now() - requestedAt);
        failures = isFirst ? 0 : failures + 1;
      } catch (error) {
        release(chunk, source);
        failures++;
        onFailure(source, error);
      }
      notifyChange();
    }
  }

  /** Unreferenced, so that it does not delay the end of the process. */
  const pause = () => new Promise<void>((resolve) => setTimeout(resolve, POLL_MS).unref());

  /** Takes a reply, which may have fewer blocks than requested. False if another source was faster. */
  function receive(chunk: Chunk, source: Source, blocks: readonly FetchedBlock[]): boolean {
    if (chunk.received) return false;
    if (blocks.length === 0) throw new Error("it does not send the blocks that it claims");
    const end = Math.min(chunk.after + blocks.length, chunk.to);
    if (end < chunk.to) gaps.set(end, chunk.to);
    chunk.to = end;
    chunk.received = { source, blocks: blocks.slice(0, end - chunk.after) };
    bufferedBytes += bytesOf(chunk.received.blocks);
    return true;
  }

  function release(chunk: Chunk, source: Source): void {
    chunk.requestedFrom.delete(source);
    if (chunk.received || chunk.requestedFrom.size > 0) return;
    chunks.delete(chunk.after);
    gaps.set(chunk.after, chunk.to);
  }

  /** Submits chunks to the chain in order; several at a time, so that the chain never waits for the download. */
  async function submitInOrder(): Promise<void> {
    const submissions = new Set<Promise<void>>();
    while (!isFinished()) {
      const chunk = chunks.get(submitted);
      if (chunk?.received) {
        chunks.delete(submitted);
        submitted = chunk.to;
        const submission = submit(chunk.received)
          .catch((error: unknown) => {
            failure ??= { error };
          })
          .finally(() => {
            submissions.delete(submission);
            notifyChange();
          });
        submissions.add(submission);
        notifyChange();
      } else if (working === 0) break;
      else await change.promise;
    }
    await Promise.all(submissions);
  }

  async function submit({ source, blocks }: NonNullable<Chunk["received"]>): Promise<void> {
    inExecution++;
    const outcomes = await accept(blocks, source).finally(() => {
      inExecution--;
      bufferedBytes -= bytesOf(blocks);
    });
    const outcome = outcomes.find(({ answer }) => answer !== "Accepted");
    if (outcome) refusal ??= { kind: "refused", source, outcome };
  }

  const workers = sources.map((source) =>
    work(source).finally(() => {
      working--;
      notifyChange();
    }),
  );
  await submitInOrder();
  notifyChange();
  // Pending requests end by themselves; their results are ignored.
  void Promise.all(workers);
  if (failure) throw failure.error;
  return refusal ?? { kind: submitted >= to ? "done" : "exhausted" };
}

const bytesOf = (blocks: readonly FetchedBlock[]) =>
  blocks.reduce((total, block) => total + inputByteLength(block), 0);

/** Number of durations for the median. */
const MAX_DURATIONS = 31;

/** Median of the last durations; undefined before the first. */
function createMedian() {
  const durations: number[] = [];
  return {
    add(ms: number): void {
      durations.push(ms);
      if (durations.length > MAX_DURATIONS) durations.shift();
    },
    read: (): number | undefined => durations.toSorted((a, b) => a - b)[Math.floor(durations.length / 2)],
  };
}
