/**
 * Copies the events of the node's log into PostgreSQL, beside the blocks. A failure of the copy does not affect the blocks:
 * it is repeated after a pause.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { DEFAULT_EVENT_RETENTION } from "../../event-log/retention.ts";
import { isWithin, Notifier } from "../../platform/notifier.ts";
import type { Postgres } from "../../postgres/connection.ts";
import { type AheadOptions, type FeedClient, readAhead } from "../feed-client.ts";
import type { Epoch } from "../head.ts";
import type { CopiedEvent, EventLine } from "../line.ts";
import { MirrorError, type MirrorErrorCode } from "../mirror-error.ts";
import { appendEvents, type CopyState, markGap, pruneEvents, readCopy, startCopy } from "./rows.ts";

/** Parts of a session of the mirror that the copy uses. */
export type CopyDeps = {
  readonly postgres: Postgres;
  readonly feed: Pick<FeedClient, "events" | "continueEvents">;
  readonly epoch: Epoch;
  readonly heights: Pick<HeightWatch, "waitFor">;
  readonly signal: AbortSignal;
  /** Called with the last copied event when it changes. */
  readonly onCopied: (copy: Pick<CopyState, "sequence" | "gaps">) => void;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
};

/** Pause after a failure, doubled with each further failure. */
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 15_000;
/** Pause after the node has refused the request: an older version has no events. */
const REFUSED_PAUSE_MS = 60_000;
/** Time for which events wait for their block, so that the receiver of an event finds its block. */
const MAX_WAIT_MS = 1_000;
/** Events about blocks that the node has not accepted: a peer chooses their heights. */
const UNACCEPTED: ReadonlySet<string> = new Set(["block.received", "block.disregarded"]);
/** Steps of pruning between two responses of the node, each of which takes a minute: live events wait meanwhile. */
const MAX_PRUNED_STEPS = 20;
/** Bounds of the lines that are read while others are written: their number, and the characters of their events. */
const AHEAD: AheadOptions<EventLine> = {
  maxItems: 8,
  maxSize: 4 * 1024 * 1024,
  sizeOf: (line) =>
    "events" in line ? line.events.reduce((sum, [, , , , , , , data]) => sum + (data?.length ?? 0), 0) : 0,
};

export class EventCopy {
  /** A node without events refuses each session. */
  #isRefused = false;

  /**
   * Copies events until the signal is aborted. It is called by each session of the mirror.
   *
   * @throws {MirrorError} MIRROR_DEPOSED
   */
  async run(deps: CopyDeps): Promise<void> {
    const { signal } = deps;
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      const startMs = performance.now();
      try {
        await copyOnce(deps);
        pauseMs = FIRST_PAUSE_MS;
        this.#isRefused = false;
        // A node that is stopping ends responses at once.
        if (performance.now() - startMs < FIRST_PAUSE_MS) await pause(FIRST_PAUSE_MS, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (codeOf(error) === "MIRROR_DEPOSED") throw error;
        await this.#afterFailure(error, pauseMs, deps);
        pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
      }
    }
  }

  async #afterFailure(error: unknown, pauseMs: number, { signal, logger }: CopyDeps): Promise<void> {
    const isAgain = this.#isRefused && isRefusal(error);
    await pause(isAgain ? REFUSED_PAUSE_MS : pauseMs, signal);
    // If the blocks fail, too, their failure is logged.
    if (signal.aborted) return;
    if (!isAgain) logger.warn({ err: error }, "failed to copy the events of the node");
    this.#isRefused = isRefusal(error);
  }
}

const codeOf = (error: unknown): MirrorErrorCode | undefined =>
  error instanceof MirrorError ? error.code : undefined;
const isRefusal = (error: unknown): boolean => codeOf(error) === "MIRROR_REFUSED";

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => {});

/** Copies events until the node ends its response. */
async function copyOnce(deps: CopyDeps): Promise<void> {
  const { postgres, feed, signal, onCopied } = deps;
  const copy = await readCopy(postgres);
  onCopied(copy);
  const { sequence, id, transfer } = copy;
  const known = { ...(id !== undefined && { id }), ...(transfer !== undefined && { transfer }) };
  const position = copy.isStarted ? { sequence, ...known } : "newest";
  const progress = { ...copy };
  let canPrune = true;
  try {
    for await (const lines of readAhead(feed.events(position, signal), AHEAD)) {
      await writeLines(lines, progress, deps);
      // A step drops more events than a write adds.
      if (canPrune) canPrune = await pruneEvents(postgres, DEFAULT_EVENT_RETENTION, deps.epoch);
    }
  } catch (error) {
    if (codeOf(error) !== "MIRROR_EVENTS_GONE") throw error;
    await bridgeGap(progress, error, deps);
    return;
  }
  for (let step = 0; step < MAX_PRUNED_STEPS && !signal.aborted; step++) {
    if (!(await pruneEvents(postgres, DEFAULT_EVENT_RETENTION, deps.epoch))) return;
  }
}

/** A copy in progress. */
type Progress = { sequence: number; isStarted: boolean; readonly gaps: number };

async function writeLines(
  lines: readonly EventLine[],
  progress: Progress,
  { postgres, epoch, heights, signal, onCopied, logger }: CopyDeps,
): Promise<void> {
  const events: CopiedEvent[] = [];
  for (const line of lines) {
    if ("events" in line) events.push(...line.events);
    else if (!progress.isStarted) {
      await startCopy(postgres, line.after, epoch);
      logger.info({ after: line.after }, "copying the events of the node");
      progress.sequence = line.after;
      progress.isStarted = true;
    } else if (line.after !== progress.sequence) throw outOfOrder(line.after, progress.sequence);
  }
  const height = checkEvents(events, progress.sequence);
  await heights.waitFor(height, MAX_WAIT_MS);
  signal.throwIfAborted();
  await appendEvents(postgres, progress.sequence, events, epoch);
  progress.sequence = events.at(-1)?.[0] ?? progress.sequence;
  onCopied(progress);
}

/**
 * Checks that events follow a sequence and each other; the log skips sequences after a request to continue with higher ones. Returns the
 * height of the highest block of an event that the node has accepted; 0 if there is none.
 *
 * @throws {MirrorError} MIRROR_FEED_INVALID
 */
function checkEvents(events: readonly CopiedEvent[], after: number): number {
  let highest = 0;
  let previous = after;
  for (const [sequence, , name, height] of events) {
    if (sequence <= previous) throw outOfOrder(sequence, previous);
    previous = sequence;
    if (!UNACCEPTED.has(name)) highest = Math.max(highest, height ?? 0);
  }
  return highest;
}

const outOfOrder = (sequence: number, after: number): MirrorError =>
  new MirrorError("MIRROR_FEED_INVALID", `event ${sequence} of the feed does not follow event ${after}`);

/**
 * Continues when the node does not have the next event: records the gap, and moves the copy to the event after which the log of the node continues it.
 *
 * @param copy the last copied event
 * @param reason response of the node
 */
async function bridgeGap(
  { sequence, gaps }: Pick<CopyState, "sequence" | "gaps">,
  reason: unknown,
  { postgres, feed, epoch, signal, onCopied, logger }: CopyDeps,
): Promise<void> {
  const { after, last } = await firstLine(feed.events("oldest", signal));
  const next = Math.max(after, sequence);
  await markGap(postgres, sequence, next, epoch);
  onCopied({ sequence: next, gaps: gaps + 1 });
  const height = await lastHeight(postgres);
  logger.error(
    { err: reason, lastCopied: sequence, next: next + 1, height },
    "events are missing in the log of the node: webhooks of delivery workers did not receive them; " +
      "start a replay from this height for each webhook that must have them",
  );
  // This follows the record: otherwise, a mirror that was killed between the two would not notice the gap.
  if (last < next) await feed.continueEvents(next, signal);
}

async function firstLine(
  lines: ReturnType<CopyDeps["feed"]["events"]>,
): Promise<{ readonly after: number; readonly last: number }> {
  for await (const line of lines) if ("after" in line) return line;
  throw new MirrorError("MIRROR_NODE_UNREACHABLE", "the node ended a response before its first line");
}

/** Returns the height of the last copied event of a block. */
async function lastHeight(postgres: CopyDeps["postgres"]): Promise<number | undefined> {
  const [row] = await postgres.query<{ height: string }>(
    "SELECT height FROM events WHERE height IS NOT NULL ORDER BY sequence DESC LIMIT 1",
  );
  return row && Number(row.height);
}

/** The height of the mirror, for which the copy waits. */
export class HeightWatch {
  readonly #changed = new Notifier();
  readonly #signal: AbortSignal;
  #reached: number;

  constructor(start: number, signal: AbortSignal) {
    this.#reached = start;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#changed.notify(), { once: true });
  }

  /** Must be called with each new height. */
  reach(height: number): void {
    this.#reached = height;
    this.#changed.notify();
  }

  /** Waits until the mirror has this height, for at most this time, or until the signal is aborted. */
  async waitFor(height: number, maxMs: number): Promise<void> {
    const endMs = performance.now() + maxMs;
    while (this.#reached < height && !this.#signal.aborted) {
      const isInTime = await isWithin(this.#changed.next(), endMs - performance.now());
      if (!isInTime) return;
    }
  }
}
