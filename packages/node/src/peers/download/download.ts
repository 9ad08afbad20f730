/**
 * Downloads a range of heights from several peers at once. Each source takes the next unassigned chunk; chunks go to
 * the chain in order of height while later ones are still being fetched.
 */
import type { Outcome } from "../../chain/outcome.ts";
import type { FetchedBlock } from "../../chain/pipeline/receive.ts";
import { type Chunk, Chunks, type Fetch, type ReceivedBlocks, type Source } from "./source.ts";

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

/** @throws {unknown} what `accept` throws; nothing is submitted after that */
export const download = (
  range: { readonly after: number; readonly to: number },
  sources: readonly Source[],
  deps: DownloadDeps,
): Promise<DownloadResult> => new Download(range, sources, deps).run();

class Download {
  readonly #sources: readonly Source[];
  readonly #deps: DownloadDeps;
  readonly #chunks: Chunks;
  /** Number of sources that are still used. */
  #working: number;
  #refusal: DownloadResult | undefined;
  /** Error of `accept`. */
  #failure: { readonly error: unknown } | undefined;
  /** Resolved and replaced with each change. */
  #change = Promise.withResolvers<void>();

  constructor(
    range: { readonly after: number; readonly to: number },
    sources: readonly Source[],
    deps: DownloadDeps,
  ) {
    this.#sources = sources;
    this.#deps = deps;
    this.#chunks = new Chunks(range);
    this.#working = sources.length;
  }

  async run(): Promise<DownloadResult> {
    const { signal } = this.#deps;
    const onAbort = () => this.#notifyChange();
    signal.addEventListener("abort", onAbort);
    // Pending requests end by themselves; their results are ignored.
    for (const source of this.#sources) void this.#work(source);
    await this.#submitInOrder();
    signal.removeEventListener("abort", onAbort);
    this.#notifyChange();
    if (this.#failure) throw this.#failure.error;
    return this.#refusal ?? { kind: this.#chunks.submitted >= this.#chunks.to ? "done" : "exhausted" };
  }

  #isFinished(): boolean {
    const isOver = this.#refusal !== undefined || this.#failure !== undefined || this.#deps.signal.aborted;
    return isOver || this.#chunks.submitted >= this.#chunks.to;
  }

  #notifyChange(): void {
    const { resolve } = this.#change;
    this.#change = Promise.withResolvers();
    resolve();
  }

  /** Requests chunks from a source until the download is finished or the source is no longer used. */
  async #work(source: Source): Promise<void> {
    try {
      await this.#requestChunks(source);
    } finally {
      this.#working--;
      this.#notifyChange();
    }
  }

  async #requestChunks(source: Source): Promise<void> {
    let failures = 0;
    while (!this.#isFinished() && failures < MAX_FAILURES) {
      const chunk = this.#chunks.next(source);
      if (chunk) {
        failures = (await this.#requestChunk(chunk, source)) ? 0 : failures + 1;
        this.#notifyChange();
      } else {
        // Nothing is left for this source, unless another one fails.
        if (this.#chunks.submitted >= source.height) return;
        await Promise.race([this.#change.promise, pause()]);
      }
    }
  }

  /** Returns false if the source failed, or another one was faster. */
  async #requestChunk(chunk: Chunk, source: Source): Promise<boolean> {
    const requestedAt = performance.now();
    try {
      const blocks = await this.#deps.fetch(source, chunk.after, chunk.to - chunk.after);
      return this.#chunks.receive(chunk, { source, blocks }, performance.now() - requestedAt);
    } catch (error) {
      this.#chunks.release(chunk, source);
      this.#deps.onFailure(source, error);
      return false;
    }
  }

  /** Submits chunks to the chain in order; several at a time, so that the chain never waits for the download. */
  async #submitInOrder(): Promise<void> {
    const submissions = new Set<Promise<void>>();
    while (!this.#isFinished()) {
      const received = this.#chunks.takeReceived();
      if (received) {
        const submission = this.#submitBlocks(received)
          .catch((error: unknown) => {
            this.#failure ??= { error };
          })
          .finally(() => {
            submissions.delete(submission);
            this.#notifyChange();
          });
        submissions.add(submission);
        this.#notifyChange();
      } else if (this.#working === 0) break;
      else await this.#change.promise;
    }
    await Promise.all(submissions);
  }

  async #submitBlocks(received: ReceivedBlocks): Promise<void> {
    const { source, blocks } = received;
    const outcomes = await this.#deps
      .accept(blocks, source)
      .finally(() => this.#chunks.markExecuted(received));
    const outcome = outcomes.find(({ kind }) => kind !== "Accepted");
    if (outcome) this.#refusal ??= { kind: "refused", source, outcome };
  }
}

/** Unreferenced, so that it does not delay the end of the process. */
const pause = () => new Promise<void>((resolve) => setTimeout(resolve, POLL_MS).unref());
