/**
 * Download of a range of heights from many peers at once. Each source takes the next part that nobody has taken; parts
 * go to the chain in order of height, while later ones are still on their way.
 */
import type { Outcome } from "../../chain/outcome.ts";
import { chunkOf, type Fetch, type Source } from "./source.ts";

export type DownloadDeps = {
  readonly fetch: Fetch;
  /** Gives blocks to the chain. */
  readonly accept: (blocks: readonly Uint8Array[], source: Source) => Promise<Outcome[]>;
  /** A source failed to give what it claims to have. */
  readonly onFailure: (source: Source, error: unknown) => void;
  /** Ends the download early. */
  readonly signal: AbortSignal;
};

export type DownloadResult =
  /** Everything was taken by the chain. */
  | { readonly kind: "done" }
  /** No source is left that has the next block. */
  | { readonly kind: "exhausted" }
  /** The chain did not take a block of this source. */
  | { readonly kind: "refused"; readonly source: Source; readonly outcome: Outcome };

/** Blocks after `after` up to `to`, some source being busy with them or done. */
type Part = {
  readonly after: number;
  readonly to: number;
  readonly source: Source;
  readonly blocks?: readonly Uint8Array[];
};

/** Bytes of blocks that have arrived and are not on the chain yet; a part that is next may exceed them. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** Failures in a row after which a source is left out. */
const MAX_FAILURES = 2;

export async function download(
  { after, to }: { readonly after: number; readonly to: number },
  sources: readonly Source[],
  { fetch, accept, onFailure, signal }: DownloadDeps,
): Promise<DownloadResult> {
  /** By the height after which they begin; parts in flight have no blocks yet. */
  const parts = new Map<number, Part>();
  /** Beginnings of what has to be fetched again, with where it ends. */
  const gaps = new Map<number, number>();
  /** Everything up to this height was handed out. */
  let reached = after;
  /** Everything up to this height was given to the chain. */
  let given = after;
  let waitingBytes = 0;
  /** Parts that the chain has and has not answered. */
  let inHand = 0;
  let working = sources.length;
  let refusal: DownloadResult | undefined;
  let change = Promise.withResolvers<void>();

  const isOver = () => refusal !== undefined || signal.aborted || given >= to;

  function changed(): void {
    const { resolve } = change;
    change = Promise.withResolvers();
    resolve();
  }
  signal.addEventListener("abort", changed, { once: true });

  /** The lowest part that this source can give and nobody has taken. */
  function take(source: Source): Part | undefined {
    const [gap] = [...gaps.keys()].filter((from) => from < source.height).sort((a, b) => a - b);
    const from = gap ?? reached;
    // What is next is needed all the same, unless the chain is busy.
    if (waitingBytes > MAX_WAITING_BYTES && (from !== given || inHand > 0)) return undefined;
    const end = Math.min(gap === undefined ? to : gaps.get(gap)!, source.height, from + chunkOf(source));
    if (end <= from) return undefined;
    if (gap === undefined) reached = end;
    else leave(gap, end);
    const part = { after: from, to: end, source };
    parts.set(from, part);
    return part;
  }

  /** The gap is filled up to a height. */
  function leave(gap: number, filled: number): void {
    const end = gaps.get(gap)!;
    gaps.delete(gap);
    if (filled < end) gaps.set(filled, end);
  }

  async function work(source: Source): Promise<void> {
    let failures = 0;
    while (!isOver() && failures < MAX_FAILURES) {
      const part = take(source);
      if (!part) {
        // Nothing that this source has is left, unless another one fails.
        if (given >= source.height) return;
        await change.promise;
        continue;
      }
      try {
        fulfil(part, await fetch(source, part.after, part.to - part.after));
        failures = 0;
      } catch (error) {
        parts.delete(part.after);
        gaps.set(part.after, part.to);
        failures++;
        onFailure(source, error);
      }
      changed();
    }
  }

  /** What came may be less than what was asked for. */
  function fulfil(part: Part, blocks: readonly Uint8Array[]): void {
    if (blocks.length === 0) throw new Error("it does not give the blocks that it has");
    const end = Math.min(part.after + blocks.length, part.to);
    parts.set(part.after, { ...part, to: end, blocks: blocks.slice(0, end - part.after) });
    if (end < part.to) gaps.set(end, part.to);
    waitingBytes += bytesOf(blocks);
  }

  /** Gives parts to the chain in order; several are on their way, so that it never waits for this. */
  async function deliver(): Promise<void> {
    const deliveries = new Set<Promise<void>>();
    while (!isOver()) {
      const part = parts.get(given);
      if (part?.blocks) {
        parts.delete(given);
        given = part.to;
        const delivery = hand(part, part.blocks).finally(() => {
          deliveries.delete(delivery);
          changed();
        });
        deliveries.add(delivery);
        changed();
      } else if (working === 0) break;
      else await change.promise;
    }
    await Promise.all(deliveries);
  }

  async function hand({ source }: Part, blocks: readonly Uint8Array[]): Promise<void> {
    inHand++;
    const outcomes = await accept(blocks, source).finally(() => {
      inHand--;
      waitingBytes -= bytesOf(blocks);
    });
    const outcome = outcomes.find(({ answer }) => answer !== "Accepted");
    if (outcome) refusal ??= { kind: "refused", source, outcome };
  }

  const workers = sources.map((source) =>
    work(source).finally(() => {
      working--;
      changed();
    }),
  );
  await deliver();
  changed();
  // Requests under way end by themselves; what they bring is not needed any more.
  void Promise.all(workers);
  return refusal ?? { kind: given >= to ? "done" : "exhausted" };
}

const bytesOf = (blocks: readonly Uint8Array[]) => blocks.reduce((total, { length }) => total + length, 0);
