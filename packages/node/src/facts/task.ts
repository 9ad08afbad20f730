/** Extends the fact tree in the background after the commits of a running node. */
import type { Network } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { Database } from "../store/engine/database.ts";
import { createGrowth, type Growth, type GrowthDeps, type GrowthFigures } from "./growth.ts";

export type FactsTaskDeps = {
  readonly database: Database;
  readonly network: Network;
  /** True if blocks of any depth can be reverted on request. */
  readonly isDevChain: boolean;
  /** Delay of the first work. Default: 1 s, so that a node with much to build responds to its first requests before. */
  readonly startDelayMs?: number;
  readonly logger: Logger;
};

export type FactsTask = {
  /** Must be called after every commit. */
  chainChanged(change: {
    readonly applied: Parameters<Growth["applied"]>[0];
    readonly revertedBlocks: number;
  }): void;
  figures(): GrowthFigures;
  close(): void;
};

/** Minimum work per event-loop tick of the consensus thread; longer if its share of the time since the last work is longer. */
const STRETCH_MS = 5;
const SHARE = 0.1;
const MAX_STRETCH_MS = 15;
const PAUSE_MS = 15;
const START_DELAY_MS = 1_000;
const RETRY_MS = 10_000;
/** Lag in blocks from which progress is logged. */
const REPORTED_LAG = 10_000;
const REPORT_MS = 30_000;

/** Continues at the end of the tree in the database. */
export function startFactsTask({
  database,
  network,
  isDevChain,
  startDelayMs = START_DELAY_MS,
  logger,
}: FactsTaskDeps): FactsTask {
  const growth = createGrowth({ database, network, onTruncated: logTruncation(logger, isDevChain) });
  let timer: NodeJS.Timeout | undefined;
  let soon: NodeJS.Immediate | undefined;
  const report = createProgress(logger);

  let endedMs = performance.now();

  function run(): void {
    timer = undefined;
    soon = undefined;
    try {
      const startedMs = performance.now();
      // A syncing node commits thousands of blocks before other work runs.
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

  /** Returns whether work is left. */
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

const logTruncation =
  (logger: Logger, isDevChain: boolean): GrowthDeps["onTruncated"] =>
  (from, to) =>
    isDevChain
      ? logger.info({ from, to }, "removed the facts of reverted blocks from the Merkle tree")
      : logger.error(
          { from, to },
          "reorganisation below a final block: removed its facts from the Merkle tree; find out which nodes forged two chains",
        );

/** Logs the progress of a long build: at its start, periodically, and at its end. */
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
