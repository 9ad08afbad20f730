/** Extends the fact tree in the background after the commits of a running node. */
import type { Network } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { Database } from "../store/engine/database.ts";
import { Growth, type GrowthDeps, type GrowthFigures } from "./growth.ts";
import type { AppliedBlocks } from "./leaf-source.ts";

type FactsTaskDeps = {
  readonly database: Database;
  readonly network: Network;
  /** True if blocks of any depth can be reverted on request. */
  readonly isDevChain: boolean;
  /** Delay of the first work. Default: 1 s, so that a node with much to build responds to its first requests before. */
  readonly startDelayMs?: number;
  readonly logger: Logger;
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
export class FactsTask {
  readonly #growth: Growth;
  readonly #logger: Logger;
  readonly #progress: Progress;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Immediate | undefined;
  #endedMs = performance.now();

  constructor({ database, network, isDevChain, startDelayMs = START_DELAY_MS, logger }: FactsTaskDeps) {
    this.#growth = new Growth({ database, network, onTruncated: logTruncation(logger, isDevChain) });
    this.#logger = logger;
    this.#progress = new Progress(logger);
    this.#pause(startDelayMs);
  }

  /** Must be called after every commit. */
  chainChanged({
    applied,
    revertedBlocks,
  }: {
    readonly applied: AppliedBlocks;
    readonly revertedBlocks: number;
  }): void {
    if (revertedBlocks > 0) this.#growth.reverted();
    this.#growth.applied(applied);
    if (!this.#timer) this.#soon ??= setImmediate(() => this.#run());
  }

  figures(): GrowthFigures {
    return this.#growth.figures();
  }

  close(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#soon);
  }

  #run(): void {
    this.#timer = undefined;
    this.#soon = undefined;
    try {
      const startedMs = performance.now();
      // A syncing node commits thousands of blocks before other work runs.
      const share = Math.min((startedMs - this.#endedMs) * SHARE, MAX_STRETCH_MS);
      const isBehind = this.#stretch(startedMs + Math.max(share, STRETCH_MS));
      this.#endedMs = performance.now();
      if (isBehind) this.#pause(PAUSE_MS);
      this.#progress.report(() => this.#growth.figures());
    } catch (err) {
      this.#logger.error({ err }, "failed to extend the Merkle tree of facts; retrying");
      this.#pause(RETRY_MS);
    }
  }

  /** Returns whether work is left. */
  #stretch(untilMs: number): boolean {
    for (;;) {
      if (!this.#growth.step(untilMs)) return false;
      if (performance.now() >= untilMs) return true;
    }
  }

  #pause(timeMs: number): void {
    this.#timer = setTimeout(() => this.#run(), timeMs);
    // Nothing is lost if the process ends instead.
    this.#timer.unref();
  }
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
class Progress {
  readonly #logger: Logger;
  #start: { readonly atMs: number; readonly lag: number } | undefined;
  #nextMs = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  report(figures: () => GrowthFigures): void {
    const nowMs = performance.now();
    if (nowMs < this.#nextMs) return;
    this.#nextMs = nowMs + REPORT_MS;
    const { size, height, lag } = figures();
    const start = this.#start;
    if (start && lag === 0) {
      this.#logger.info({ size, height }, "the Merkle tree of facts is complete");
      this.#start = undefined;
    } else if (start || lag > REPORTED_LAG) {
      const rate = start && (start.lag - lag) / (nowMs - start.atMs);
      const secondsLeft = rate && rate > 0 ? Math.round(lag / rate / 1_000) : undefined;
      this.#start ??= { atMs: nowMs, lag };
      this.#logger.info({ size, height, blocksLeft: lag, secondsLeft }, "building the Merkle tree of facts");
    }
  }
}
