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

/** Blocks after `after` up to `to`, which some source was asked for. */
type Part = {
  readonly after: number;
  to: number;
  /** Milliseconds of a steady clock at which it was asked for first. */
  readonly askedAt: number;
  /** Those who are asked for it: a second one where the first takes long. */
  readonly asked: Set<Source>;
  /** What came first, and from whom. */
  arrived?: { readonly source: Source; readonly blocks: readonly Uint8Array[] };
};

/** Bytes of blocks that have arrived and are not on the chain yet; a part that is next may exceed them. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** Failures in a row after which a source is left out; that another one had to be asked is one. */
const MAX_FAILURES = 2;
/** So many times as long as usual may a part take before another source is asked for it ... */
const PATIENCE_FACTOR = 4;
/** ... but at least so long ... */
const MIN_PATIENCE_MS = 2_000;
/** ... and so long while nothing is known of what is usual. */
const FIRST_PATIENCE_MS = 4_000;
/** How often parts are looked at. */
const LOOK_MS = 250;

export async function download(
  { after, to }: { readonly after: number; readonly to: number },
  sources: readonly Source[],
  { fetch, accept, onFailure, signal }: DownloadDeps,
): Promise<DownloadResult> {
  /** By the height after which they begin. */
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
  const usual = createMedian();

  const isOver = () => refusal !== undefined || signal.aborted || given >= to;

  function changed(): void {
    const { resolve } = change;
    change = Promise.withResolvers();
    resolve();
  }
  signal.addEventListener("abort", changed, { once: true });

  /** The part that this source is to be asked for next. */
  const take = (source: Source): Part | undefined => overdue(source) ?? free(source);

  /** The lowest part that is on its way, if it takes too long: everything above it waits. */
  function overdue(source: Source): Part | undefined {
    const underWay = [...parts.values()].filter(({ arrived }) => !arrived);
    if (underWay.length === 0) return undefined;
    const part = underWay.reduce((one, other) => (other.after < one.after ? other : one));
    const patienceMs = Math.max(MIN_PATIENCE_MS, PATIENCE_FACTOR * (usual.read() ?? 0));
    const isLate =
      performance.now() - part.askedAt > (usual.read() === undefined ? FIRST_PATIENCE_MS : patienceMs);
    if (!isLate || part.asked.size > 1 || part.asked.has(source) || source.height < part.to) return undefined;
    part.asked.add(source);
    return part;
  }

  /** The lowest part that this source can give and nobody was asked for. */
  function free(source: Source): Part | undefined {
    const [gap] = [...gaps.keys()].filter((from) => from < source.height).sort((a, b) => a - b);
    const from = gap ?? reached;
    // What is next is needed all the same, unless the chain is busy.
    if (waitingBytes > MAX_WAITING_BYTES && (from !== given || inHand > 0)) return undefined;
    const end = Math.min(gap === undefined ? to : gaps.get(gap)!, source.height, from + chunkOf(source));
    if (end <= from) return undefined;
    if (gap === undefined) reached = end;
    else leave(gap, end);
    const part: Part = { after: from, to: end, askedAt: performance.now(), asked: new Set([source]) };
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
        await Promise.race([change.promise, pause()]);
        continue;
      }
      const askedAt = performance.now();
      try {
        const isFirst = fulfil(part, source, await fetch(source, part.after, part.to - part.after));
        if (isFirst) usual.add(performance.now() - askedAt);
        failures = isFirst ? 0 : failures + 1;
      } catch (error) {
        giveUp(part, source);
        failures++;
        onFailure(source, error);
      }
      changed();
    }
  }

  /** A pause that holds nobody up who is to end. */
  const pause = () => new Promise<void>((resolve) => setTimeout(resolve, LOOK_MS).unref());

  /** What came may be less than what was asked for. False if another source was quicker. */
  function fulfil(part: Part, source: Source, blocks: readonly Uint8Array[]): boolean {
    if (part.arrived) return false;
    if (blocks.length === 0) throw new Error("it does not give the blocks that it has");
    const end = Math.min(part.after + blocks.length, part.to);
    if (end < part.to) gaps.set(end, part.to);
    part.to = end;
    part.arrived = { source, blocks: blocks.slice(0, end - part.after) };
    waitingBytes += bytesOf(part.arrived.blocks);
    return true;
  }

  function giveUp(part: Part, source: Source): void {
    part.asked.delete(source);
    if (part.arrived || part.asked.size > 0) return;
    parts.delete(part.after);
    gaps.set(part.after, part.to);
  }

  /** Gives parts to the chain in order; several are on their way, so that it never waits for this. */
  async function deliver(): Promise<void> {
    const deliveries = new Set<Promise<void>>();
    while (!isOver()) {
      const part = parts.get(given);
      if (part?.arrived) {
        parts.delete(given);
        given = part.to;
        const delivery = hand(part.arrived).finally(() => {
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

  async function hand({ source, blocks }: NonNullable<Part["arrived"]>): Promise<void> {
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

/** Durations that the median is taken of. */
const MAX_DURATIONS = 31;

/** The middle one of the last durations; undefined before the first. */
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
