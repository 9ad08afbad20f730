/** Rounds of faults: one or two at a time, after each of which the cluster must catch up. */
import { setTimeout as sleep } from "node:timers/promises";
import { createDraws, type Random } from "../simulation/random.ts";
import type { Load } from "./load.ts";
import { NEMESES, type Nemesis, type Target } from "./nemeses.ts";
import { longestOf, type Progress } from "./progress.ts";
import { recover } from "./recovery.ts";

/** Faults of one kind during a run. */
export type Occurrences = { count: number; longestLagMs: number; longestRecoveryMs: number };

export type RoundsOptions = {
  readonly untilMs: number;
  /** Names of the only faults that happen. */
  readonly only?: readonly string[];
  /** Reports each fault. */
  readonly log: (line: string) => void;
  readonly onFault: (fault: string) => void;
};

export type RoundsDeps = {
  readonly random: Random;
  readonly progress: Progress;
  /** Paused while the machine has no free processors to recover from a fault. */
  readonly load: Pick<Load, "pause" | "resume">;
};

export type Rounds = {
  /** Faults that have happened, by name. */
  readonly occurrences: ReadonlyMap<string, Occurrences>;
  readonly count: number;
  /** Number of rounds after which the cluster did not catch up in time, because the machine had no free processors. */
  readonly busy: number;
};

const POLL_MS = 100;
/** Probability of a second fault at the same time. */
const SECOND = 0.4;

export async function runRounds(
  target: Target,
  { random, progress, load }: RoundsDeps,
  { untilMs, only, log, onFault }: RoundsOptions,
): Promise<Rounds> {
  const occurrences = new Map<string, Occurrences>();
  let [rounds, busy] = [0, 0];
  while (performance.now() < untilMs) {
    await sleep(random.integer(500, 2_000));
    const round = drawRound(possibleOf(target, only), random);
    const peak = watchPeak(progress);
    const injections = round.map(({ inject }) => inject(target, createDraws(random.integer(0, 2 ** 31))));
    log((await Promise.all(injections)).join("; "));
    const healedMs = performance.now();
    const { behind, isBusy } = await recover({ progress, load });
    const names = round.map(({ name }) => name);
    const recoveryMs = performance.now() - healedMs;
    const text = `${(recoveryMs / 1_000).toFixed(0)} s after ${names.join(" and ")}`;
    if (isBusy) log(`the machine is overloaded: its processors were busy until ${text}`);
    if (behind !== undefined) onFault(`lag: ${text}, ${behind}`);
    rounds++;
    if (isBusy) busy++;
    const lagMs = peak();
    for (const name of names) note(occurrences, name, { lagMs, recoveryMs });
  }
  return { occurrences, count: rounds, busy };
}

function possibleOf(target: Target, only?: readonly string[]): readonly Nemesis[] {
  const possible = NEMESES.filter(({ isPossible }) => isPossible?.(target) ?? true);
  return only ? possible.filter(({ name }) => only.includes(name)) : possible;
}

/** Draws one or two faults, of different concerns. */
function drawRound(possible: readonly Nemesis[], random: Random): Nemesis[] {
  const draw = (nemeses: readonly Nemesis[]) =>
    random.pick(nemeses.flatMap((nemesis) => Array<Nemesis>(nemesis.weight).fill(nemesis)));
  const first = draw(possible);
  const others = possible.filter(({ concern }) => concern !== first.concern);
  return random.chance(SECOND) && others.length > 0 ? [first, draw(others)] : [first];
}

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
