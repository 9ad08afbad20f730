/** Waits until a cluster has caught up: on a machine without free processors it is slow, but not wrong. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Load } from "./load.ts";
import { watchFree } from "./processors.ts";
import { type Lags, longestOf, type Progress } from "./progress.ts";

/** Lag that is reached again after each fault. */
const MAX_LAG_MS = 5_000;
/** Time for that on a machine with free processors. */
const RECOVERY_MS = 30_000;
/** Without free processors, it may take several times as long, while no load is added. */
const MAX_BUSY_PERIODS = 8;
/** Share of the processors; below it, the machine has no free ones. */
const MIN_FREE = 0.1;
const POLL_MS = 100;

export type Recovery = {
  /** Description of what still lags. */
  readonly behind: string | undefined;
  /** The machine had no free processors for longer than a recovery takes otherwise. */
  readonly isBusy: boolean;
};

export type RecoveryOptions = {
  readonly periodMs: number;
  /** Returns a function that returns the share of processors that were free since then. */
  readonly watchFree: () => () => number;
};

export type RecoveryDeps = {
  readonly progress: Pick<Progress, "lags">;
  readonly load: Pick<Load, "pause" | "resume">;
};

/** Waits until nothing lags: longer than one period only while the machine has no free processors. */
export async function recover(
  { progress: { lags }, load }: RecoveryDeps,
  { periodMs, watchFree: watch }: RecoveryOptions = { periodMs: RECOVERY_MS, watchFree },
): Promise<Recovery> {
  for (let period = 1; ; period++) {
    const free = watch();
    const isBusy = period > 1;
    // The load may be more than what the machine can do.
    if (period === 2) await load.pause();
    const isDone = await isCaughtUp(lags, performance.now() + periodMs);
    if (!isDone && free() < MIN_FREE && period < MAX_BUSY_PERIODS) continue;
    const behind = isDone ? undefined : describe(lags());
    if (isBusy) await load.resume();
    return { behind, isBusy };
  }
}

async function isCaughtUp(lags: Progress["lags"], untilMs: number): Promise<boolean> {
  for (;;) {
    if (longestOf(lags()) < MAX_LAG_MS) return true;
    if (performance.now() > untilMs) return false;
    await sleep(POLL_MS);
  }
}

const describe = (lags: Lags): string =>
  Object.entries(lags)
    .filter(([, ms]) => ms >= MAX_LAG_MS)
    .map(([part, ms]) => `${part} are ${(ms / 1_000).toFixed(1)} s behind`)
    .join(", ");
