/**
 * Downloads a range of heights from several peers at once. Each source takes the next unassigned chunk; chunks go to
 * the chain in order of height while later ones are still being fetched.
 */
import type { Outcome } from "../../chain/outcome.ts";
import type { FetchedBlock } from "../../chain/pipeline/receive.ts";
import {
  type Chunk,
  type Chunks,
  createChunks,
  markExecuted,
  nextChunk,
  type ReceivedBlocks,
  receiveChunk,
  releaseChunk,
  takeReceived,
} from "./chunks.ts";
import type { Fetch, Source } from "./source.ts";

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
  /** All blocks were accepted. */
  | { readonly kind: "done" }
  /** No source is left that has the next block. */
  | { readonly kind: "exhausted" }
  /** The chain refused a block of this source. */
  | { readonly kind: "refused"; readonly source: Source; readonly outcome: Outcome };

/**
 * Number of consecutive failures after which a source is no longer used; a reply that is slower than another
 * source's counts as a failure.
 */
const MAX_FAILURES = 2;
/** Interval between checks for slow chunks. */
const POLL_MS = 250;

type State = {
  readonly deps: DownloadDeps;
  readonly chunks: Chunks;
  /** Number of sources that are still used. */
  working: number;
  refusal: DownloadResult | undefined;
  /** Error of `accept`. */
  failure: { readonly error: unknown } | undefined;
  /** Resolved and replaced with each change. */
  change: PromiseWithResolvers<void>;
};

/** @throws {unknown} what `accept` throws; nothing is submitted after that */
export async function download(
  range: { readonly after: number; readonly to: number },
  sources: readonly Source[],
  deps: DownloadDeps,
): Promise<DownloadResult> {
  const state: State = {
    deps,
    chunks: createChunks(range),
    working: sources.length,
    refusal: undefined,
    failure: undefined,
    change: Promise.withResolvers(),
  };
  const onAbort = () => notifyChange(state);
  deps.signal.addEventListener("abort", onAbort);
  // Pending requests end by themselves; their results are ignored.
  for (const source of sources) void work(state, source);
  await submitInOrder(state);
  deps.signal.removeEventListener("abort", onAbort);
  notifyChange(state);
  if (state.failure) throw state.failure.error;
  return state.refusal ?? { kind: state.chunks.submitted >= range.to ? "done" : "exhausted" };
}

const isFinished = ({ deps, chunks, refusal, failure }: State): boolean =>
  refusal !== undefined || failure !== undefined || deps.signal.aborted || chunks.submitted >= chunks.to;

function notifyChange(state: State): void {
  const { resolve } = state.change;
  state.change = Promise.withResolvers();
  resolve();
}

/** Requests chunks from a source until the download is finished or the source is no longer used. */
async function work(state: State, source: Source): Promise<void> {
  try {
    await requestChunks(state, source);
  } finally {
    state.working--;
    notifyChange(state);
  }
}

async function requestChunks(state: State, source: Source): Promise<void> {
  const { chunks } = state;
  let failures = 0;
  while (!isFinished(state) && failures < MAX_FAILURES) {
    const chunk = nextChunk(chunks, source);
    if (chunk) {
      failures = (await requestChunk(state, chunk, source)) ? 0 : failures + 1;
      notifyChange(state);
    } else {
      // Nothing is left for this source, unless another one fails.
      if (chunks.submitted >= source.height) return;
      await Promise.race([state.change.promise, pause()]);
    }
  }
}

/** Returns false if the source failed, or another one was faster. */
async function requestChunk({ deps, chunks }: State, chunk: Chunk, source: Source): Promise<boolean> {
  const requestedAt = performance.now();
  try {
    const blocks = await deps.fetch(source, chunk.after, chunk.to - chunk.after);
    return receiveChunk(chunks, chunk, { source, blocks }, performance.now() - requestedAt);
  } catch (error) {
    releaseChunk(chunks, chunk, source);
    deps.onFailure(source, error);
    return false;
  }
}

/** Unreferenced, so that it does not delay the end of the process. */
const pause = () => new Promise<void>((resolve) => setTimeout(resolve, POLL_MS).unref());

/** Submits chunks to the chain in order; several at a time, so that the chain never waits for the download. */
async function submitInOrder(state: State): Promise<void> {
  const submissions = new Set<Promise<void>>();
  while (!isFinished(state)) {
    const received = takeReceived(state.chunks);
    if (received) {
      const submission = submitBlocks(state, received)
        .catch((error: unknown) => {
          state.failure ??= { error };
        })
        .finally(() => {
          submissions.delete(submission);
          notifyChange(state);
        });
      submissions.add(submission);
      notifyChange(state);
    } else if (state.working === 0) break;
    else await state.change.promise;
  }
  await Promise.all(submissions);
}

async function submitBlocks(state: State, received: ReceivedBlocks): Promise<void> {
  const { source, blocks } = received;
  const outcomes = await state.deps
    .accept(blocks, source)
    .finally(() => markExecuted(state.chunks, received));
  const outcome = outcomes.find(({ kind }) => kind !== "Accepted");
  if (outcome) state.refusal ??= { kind: "refused", source, outcome };
}
