/** Common parts of the scenarios of `npm run faults`: their options, their result, their faults and their background work. */
import { setTimeout as sleep } from "node:timers/promises";
import { WAIT_MS } from "../process/until.ts";
import type { Random } from "./actors/random.ts";

export type Run = {
  readonly seed: number;
  /** Seconds of fault injection. */
  readonly seconds: number;
  /** Names of the only faults; absent: all. */
  readonly only?: readonly string[];
  /** Reports progress. */
  readonly log: (line: string) => void;
};

export type Report = {
  /** Descriptions of failures. */
  readonly faults: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
};

export type Scenario = {
  readonly description: string;
  /** Default duration of the faults. */
  readonly minutes: number;
  /** Names of the faults. */
  readonly faults: readonly string[];
  /** Names what this machine lacks. */
  readonly missing?: () => string | undefined;
  readonly run: (run: Run) => Promise<Report>;
};

export type Fault<World> = {
  readonly name: string;
  /** Relative probability. */
  readonly weight: number;
  /** Injects the fault and heals it. Returns a description. */
  readonly inject: (world: World, random: Random) => Promise<unknown>;
};

/** Returns each fault as often as its weight; without the others if only some may happen. */
export const weighted = <F extends Pick<Fault<never>, "name" | "weight">>(
  faults: readonly F[],
  only?: readonly string[],
): F[] =>
  faults
    .filter(({ name }) => only?.includes(name) ?? true)
    .flatMap((fault) => Array<F>(fault.weight).fill(fault));

/**
 * Waits until no work is left.
 *
 * @param advance lets time pass; `isIdle` if the work is the same as at the last call
 * @throws {Error} that names the work, if nothing happens
 */
export async function untilDone(
  unfinished: () => Promise<readonly string[]>,
  advance: (isIdle: boolean, left: string) => Promise<void>,
): Promise<void> {
  let [left, changedMs] = ["", performance.now()];
  for (;;) {
    const now = (await unfinished()).join(", ");
    if (now === "") return;
    const isIdle = now === left;
    if (!isIdle) changedMs = performance.now();
    left = now;
    if (performance.now() > changedMs + WAIT_MS) throw new Error(`nothing happens: ${left}`);
    await advance(isIdle, left);
  }
}

/** Formats figures as `kills 7, blocks 120`. */
export const formatFigures = (figures: Report["figures"]): string =>
  Object.entries(figures)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");

/** Returns the first descriptions, and the number of the others. */
export const shown = (faults: readonly string[], most: number): string[] =>
  faults.length <= most ? [...faults] : [...faults.slice(0, most), `and ${faults.length - most} more`];

/** Work that is repeated until it is stopped. */
export type Background = { stop(): Promise<void> };

/** Repeats work with pauses. Failures are ignored: a process may be down. */
export function repeat(pauseMs: () => number, work: () => Promise<unknown>): Background {
  const stopping = new AbortController();
  const { signal } = stopping;
  async function run(): Promise<void> {
    while (!signal.aborted) {
      await work().catch(() => {});
      await sleep(pauseMs(), undefined, { signal }).catch(() => {});
    }
  }
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
