/** Common parts of the scenarios of `npm run faults`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { WAIT_MS } from "../process/until.ts";
import { createDraws, type Random } from "../random.ts";

export type RunOptions = {
  readonly seed: number;
  /** Seconds of fault injection. */
  readonly seconds: number;
  /** Names of the only faults; absent: all. */
  readonly only?: readonly string[];
  readonly log: (line: string) => void;
};

export type Run = RunOptions & {
  readonly random: Random;
  /** Folder for everything that the run writes; it is removed at the end. */
  readonly folder: string;
  readonly faults: string[];
};

export type Figures = Readonly<Record<string, number>>;

export type Report = { readonly faults: readonly string[]; readonly figures: Figures };

export type Scenario = {
  readonly description: string;
  /** Default duration of the faults. */
  readonly minutes: number;
  readonly faultNames: readonly string[];
  /** Names what this machine lacks. */
  readonly missing?: () => string | undefined;
  readonly run: (run: Run) => Promise<Figures>;
};

/** Runs a scenario. An error that it throws is a fault as well. */
export async function runScenario({ run }: Scenario, options: RunOptions): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-faults-"));
  const faults: string[] = [];
  let figures: Figures = {};
  try {
    figures = await run({ ...options, random: createDraws(options.seed), folder, faults });
  } catch (error) {
    faults.push(`${(error as Error).stack}`);
  }
  rmSync(folder, { recursive: true, force: true });
  return { faults, figures };
}

export type Fault<World> = {
  readonly name: string;
  readonly weight: number;
  /** Injects the fault and heals it. Returns a description. */
  readonly inject: (world: World, random: Random) => Promise<unknown>;
};

export const fault = <World>(name: string, weight: number, inject: Fault<World>["inject"]): Fault<World> => ({
  name,
  weight,
  inject,
});

/** Returns each fault as often as its weight; without the others if only some may happen. */
export const weighted = <F extends Pick<Fault<never>, "name" | "weight">>(
  faults: readonly F[],
  only?: readonly string[],
): F[] =>
  faults
    .filter(({ name }) => only?.includes(name) ?? true)
    .flatMap((fault) => Array<F>(fault.weight).fill(fault));

/** Returns the new count. */
export function increase(counts: Map<string, number>, name: string, by = 1): number {
  const count = (counts.get(name) ?? 0) + by;
  counts.set(name, count);
  return count;
}

/** Returns the value that the key got first, which is this one if there was none. */
export function firstValue<K, V>(values: Map<K, V>, key: K, value: V): V {
  const first = values.get(key) ?? value;
  values.set(key, first);
  return first;
}

const LOOK_EVERY_MS = 200;
/** Time without progress after which time must be advanced. */
const IDLE_MS = 1_000;

/** Waits until no work is left, and throws if nothing happens. `advance` lets time pass, so that postponed work is due. */
export async function untilDone(
  unfinished: () => Promise<readonly string[]>,
  advance: (left: string) => unknown,
): Promise<void> {
  let [left, changedMs, idleMs] = ["", performance.now(), performance.now()];
  for (;;) {
    const now = (await unfinished()).join(", ");
    if (now === "") return;
    if (now !== left) [left, changedMs, idleMs] = [now, performance.now(), performance.now()];
    if (performance.now() > changedMs + WAIT_MS) throw new Error(`nothing happens: ${left}`);
    if (performance.now() > idleMs + IDLE_MS) {
      await advance(left);
      idleMs = performance.now();
    }
    await sleep(LOOK_EVERY_MS);
  }
}

/** Formats figures as `kills 7, blocks 120`. */
export const formatFigures = (figures: Figures): string =>
  Object.entries(figures)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");

/** Returns the first descriptions, and the number of the others. */
export const shown = (faults: readonly string[], most: number): string[] =>
  faults.length <= most ? [...faults] : [...faults.slice(0, most), `and ${faults.length - most} more`];

/** Work that is repeated with pauses until it is stopped. Failures are ignored: a process may be down. */
export class Background {
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;

  constructor(pauseMs: number | (() => number), work: (signal: AbortSignal) => Promise<unknown>) {
    this.#running = this.#repeat(pauseMs, work);
  }

  async #repeat(...[pauseMs, work]: ConstructorParameters<typeof Background>): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await work(signal).catch(() => {});
      const ms = typeof pauseMs === "number" ? pauseMs : pauseMs();
      await sleep(ms, undefined, { signal }).catch(() => {});
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }
}
