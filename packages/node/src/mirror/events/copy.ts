/**
 * Copies the events of the node's log into PostgreSQL, beside the blocks. A failure of the copy does not affect the blocks:
 * it is repeated after a pause.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { DEFAULT_EVENT_RETENTION } from "../../event-log/retention.ts";
import { MirrorError, type MirrorErrorCode } from "../error.ts";
import type { CopiedEvent, EventLine } from "../event-line.ts";
import { type AheadOptions, readAhead } from "../read-ahead.ts";
import type { CopyDeps } from "./deps.ts";
import { bridgeGap } from "./gap.ts";
import { pruneEvents } from "./prune.ts";
import { appendEvents, readCopy, startCopy } from "./rows.ts";

/** Pause after a failure, doubled with each further failure. */
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 15_000;
/** Pause after the node has refused the request: an older version has no events. */
const REFUSED_PAUSE_MS = 60_000;
/** Time for which events wait for their block, so that the receiver of an event finds its block. */
const MAX_WAIT_MS = 1_000;
/** Steps of pruning between two responses of the node, each of which takes a minute. */
const MAX_PRUNED_STEPS = 20;
/** Bounds of the lines that are read while others are written: their number, and the characters of their events. */
const AHEAD: AheadOptions<EventLine> = {
  maxItems: 8,
  maxSize: 4 * 1024 * 1024,
  sizeOf: (line) =>
    "events" in line ? line.events.reduce((sum, [, , , , , , , data]) => sum + (data?.length ?? 0), 0) : 0,
};

/**
 * Returns a function that copies events until the signal is aborted. It is called again by each session of the mirror.
 *
 * @throws {MirrorError} MIRROR_DEPOSED, from the function
 */
export function createEventCopy(): (deps: CopyDeps) => Promise<void> {
  // A node without events refuses each session.
  let isRefused = false;

  async function afterFailure(error: unknown, pauseMs: number, { signal, logger }: CopyDeps): Promise<void> {
    const isAgain = isRefused && isRefusal(error);
    await pause(isAgain ? REFUSED_PAUSE_MS : pauseMs, signal);
    // If the blocks fail, too, their failure is logged.
    if (signal.aborted) return;
    if (!isAgain) logger.warn({ err: error }, "failed to copy the events of the node");
    isRefused = isRefusal(error);
  }

  return async (deps) => {
    const { signal } = deps;
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      const startMs = performance.now();
      try {
        await copyOnce(deps);
        pauseMs = FIRST_PAUSE_MS;
        isRefused = false;
        // A node that is stopping ends responses at once.
        if (performance.now() - startMs < FIRST_PAUSE_MS) await pause(FIRST_PAUSE_MS, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (codeOf(error) === "MIRROR_DEPOSED") throw error;
        await afterFailure(error, pauseMs, deps);
        pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
      }
    }
  };
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
  try {
    for await (const lines of readAhead(feed.events(position, signal), AHEAD)) {
      await writeLines(lines, progress, deps);
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
 * Checks that events follow a sequence and each other; the log skips sequences after a request to continue with higher ones.
 *
 * @returns the height of the highest block of an event; 0 if there is none
 * @throws {MirrorError} MIRROR_FEED_INVALID
 */
function checkEvents(events: readonly CopiedEvent[], after: number): number {
  let highest = 0;
  let previous = after;
  for (const [sequence, , , height] of events) {
    if (sequence <= previous) throw outOfOrder(sequence, previous);
    previous = sequence;
    highest = Math.max(highest, height ?? 0);
  }
  return highest;
}

const outOfOrder = (sequence: number, after: number): MirrorError =>
  new MirrorError("MIRROR_FEED_INVALID", `event ${sequence} of the feed does not follow event ${after}`);
