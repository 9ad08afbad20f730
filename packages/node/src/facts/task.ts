/** Grows the tree of facts behind the commits of a running node, so that nothing waits for it. */
import type { Network } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { Database } from "../store/engine/database.ts";
import { createGrowth, type Growth, type GrowthFigures } from "./growth.ts";

export type FactsTaskDeps = {
  readonly database: Database;
  readonly network: Network;
  /** Whether blocks of any depth are reverted at will. */
  readonly isDevChain: boolean;
  /** Until the first work. Absent: 1 s, so that a node whose tree is far behind answers its first requests before. */
  readonly startDelayMs?: number;
  readonly logger: Logger;
};

export type FactsTask = {
  /** To be called after every commit. */
  chainChanged(change: {
    readonly applied: Parameters<Growth["applied"]>[0];
    readonly revertedBlocks: number;
  }): void;
  figures(): GrowthFigures;
  close(): void;
};

/** What the thread of consensus does of it at a stretch, if that is not less than its share of the time since the last time. */
const STRETCH_MS = 5;
const SHARE = 0.1;
const MAX_STRETCH_MS = 100;
const PAUSE_MS = 15;
const START_DELAY_MS = 1_000;
const RETRY_MS = 10_000;
/** A tree that is so many blocks behind tells how far it is. */
const REPORTED_LAG = 10_000;
const REPORT_MS = 30_000;

/** Begins where the tree of the database ends. */
export function startFactsTask({
  database,
  network,
  isDevChain,
  startDelayMs = START_DELAY_MS,
  logger,
}: FactsTaskDeps): FactsTask {
  const growth = createGrowth({
    database,
    network,
    onTruncated: (from, to) =>
      isDevChain
        ? logger.info({ from, to }, "removed the facts of reverted blocks from the Merkle tree")
        : logger.error(
            { from, to },
            "reorganisation below a final block: removed its facts from the Merkle tree; find out which nodes forged two chains",
          ),
  });
  let timer: NodeJS.Timeout | undefined;
  let soon: NodeJS.Immediate | undefined;
  const report = createProgress(logger);

  let endedMs = performance.now();

  function run(): void {
    timer = undefined;
    soon = undefined;
    try {
      const startedMs = performance.now();
      // A node that catches up commits thousands of blocks before it comes to anything else.
      const share = Math.min((startedMs - endedMs) * SHARE, MAX_STRETCH_MS);
      const isBehind = stretch(startedMs + Math.max(share, STRETCH_MS));
      endedMs = performance.now();
      if (isBehind) pause(PAUSE_MS);
      report(growth.figures);
    } catch (err) {
      logger.error({ err }, "failed to extend the Merkle tree of facts; retrying");
      pause(RETRY_MS);
    }
  }

  /** Returns whether more is left. */
  function stretch(untilMs: number): boolean {
    for (;;) {
      if (!growth.step(untilMs)) return false;
      if (performance.now() >= untilMs) return true;
    }
  }

  function pause(timeMs: number): void {
    timer = setTimeout(run, timeMs);
    // Nothing is lost if the process ends instead.
    timer.unref();
  }

  pause(startDelayMs);
  return {
    chainChanged({ applied, revertedBlocks }) {
      if (revertedBlocks > 0) growth.reverted();
      growth.applied(applied);
      if (!timer) soon ??= setImmediate(run);
    },
    figures: growth.figures,
    close() {
      clearTimeout(timer);
      clearImmediate(soon);
    },
  };
}

/** Logs how far a tree is that has far to go: at its beginning, at times, and at its end. */
function createProgress(logger: Logger): (figures: () => GrowthFigures) => void {
  let start: { readonly atMs: number; readonly lag: number } | undefined;
  let nextMs = 0;
  return (figures) => {
    const nowMs = performance.now();
    if (nowMs < nextMs) return;
    nextMs = nowMs + REPORT_MS;
    const { size, height, lag } = figures();
    if (start && lag === 0) {
      logger.info({ size, height }, "the Merkle tree of facts is complete");
      start = undefined;
    } else if (start || lag > REPORTED_LAG) {
      const rate = start && (start.lag - lag) / (nowMs - start.atMs);
      const secondsLeft = rate && rate > 0 ? Math.round(lag / rate / 1_000) : undefined;
      start ??= { atMs: nowMs, lag };
      logger.info({ size, height, blocksLeft: lag, secondsLeft }, "building the Merkle tree of facts");
    }
  };
}
