/** Rounds of faults: one or two at a time, after each of which the cluster must catch up. */
import { setTimeout as sleep } from "node:timers/promises";
import { createDraws, type Random } from "../simulation/random.ts";
import { NEMESES, type Nemesis, type Target } from "./nemeses.ts";
import type { Lags, Progress } from "./progress.ts";

/** Faults of one kind during a run. */
export type Occurrences = { count: number; longestLagMs: number; longestRecoveryMs: number };

export type RoundsOptions = {
  readonly untilMs: number;
  /** Reports each fault. */
  readonly log: (line: string) => void;
  readonly onFault: (fault: string) => void;
};

/** Lag that is reached again after each fault. */
const MAX_LAG_MS = 5_000;
const RECOVERY_MS = 30_000;
const POLL_MS = 100;
/** Probability of a second fault at the same time. */
const SECOND = 0.4;

/** Returns the faults that have happened, by name. */
export async function runRounds(
  target: Target,
  { random, progress }: { readonly random: Random; readonly progress: Progress },
  { untilMs, log, onFault }: RoundsOptions,
): Promise<ReadonlyMap<string, Occurrences>> {
  const occurrences = new Map<string, Occurrences>();
  while (performance.now() < untilMs) {
    await sleep(random.integer(500, 2_000));
    const round = drawRound(target, random);
    const peak = watchPeak(progress);
    const injections = round.map(({ inject }) => inject(target, createDraws(random.integer(0, 2 ** 31))));
    log((await Promise.all(injections)).join("; "));
    const healedMs = performance.now();
    const behind = await recover(progress, healedMs + RECOVERY_MS);
    const names = round.map(({ name }) => name);
    if (behind !== undefined)
      onFault(`lag: ${RECOVERY_MS / 1_000} s after ${names.join(" and ")}, ${behind}`);
    const recoveryMs = performance.now() - healedMs;
    for (const name of names) note(occurrences, name, { lagMs: peak(), recoveryMs });
  }
  return occurrences;
}

function drawRound(target: Target, random: Random): Nemesis[] {
  const possible = NEMESES.filter(({ isPossible }) => isPossible?.(target) ?? true);
  const draw = (nemeses: readonly Nemesis[]) =>
    random.pick(nemeses.flatMap((nemesis) => Array<Nemesis>(nemesis.weight).fill(nemesis)));
  const first = draw(possible);
  if (!random.chance(SECOND)) return [first];
  return [first, draw(possible.filter(({ concern }) => concern !== first.concern))];
}

const longestOf = (lags: Lags): number => Math.max(...Object.values(lags));

/** Returns a function that returns the longest lag since this call, and ends the watch. */
function watchPeak({ lags }: Progress): () => number {
  let peak = 0;
  const look = () => {
    peak = Math.max(peak, longestOf(lags()));
  };
  const timer = setInterval(look, POLL_MS);
  return () => {
    clearInterval(timer);
    look();
    return peak;
  };
}

/** Waits until nothing lags; returns a description of what still lags at the end of the time. */
async function recover({ lags }: Progress, untilMs: number): Promise<string | undefined> {
  while (performance.now() < untilMs) {
    if (longestOf(lags()) < MAX_LAG_MS) return undefined;
    await sleep(POLL_MS);
  }
  return Object.entries(lags())
    .filter(([, ms]) => ms >= MAX_LAG_MS)
    .map(([part, ms]) => `${part} are ${(ms / 1_000).toFixed(1)} s behind`)
    .join(", ");
}

function note(
  occurrences: Map<string, Occurrences>,
  name: string,
  { lagMs, recoveryMs }: { readonly lagMs: number; readonly recoveryMs: number },
): void {
  const known = occurrences.get(name) ?? { count: 0, longestLagMs: 0, longestRecoveryMs: 0 };
  known.count++;
  known.longestLagMs = Math.max(known.longestLagMs, lagMs);
  known.longestRecoveryMs = Math.max(known.longestRecoveryMs, recoveryMs);
  occurrences.set(name, known);
}
