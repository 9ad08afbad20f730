/** Measurements of an attack, its failures, and the table of all attacks. */
import type { Sample } from "./honest.ts";
import type { LongestTick } from "./ticks.ts";

export type Row = {
  readonly attack: string;
  readonly offered: number;
  readonly refused: number;
  /** Resident memory of the node: before, peak, and after the settle time. */
  readonly memoryMib: { readonly before: number; readonly peak: number; readonly after: number };
  /** Growth of the memory during a long attack with a constant load, as a share; 0 for all others. */
  readonly memoryGrowth: number;
  readonly client: readonly Sample[];
  readonly health: readonly Sample[];
  /** Longest tick of the consensus thread. */
  readonly longestTick: LongestTick;
  /** Maximum of the attack for this tick, if lower than that of all attacks. */
  readonly maxTickMs?: number;
  readonly slotsForged: number;
  readonly slotsMissed: number;
  /** Number of them that have a reason which the attack names, and the reasons of the others. */
  readonly expectedMisses: number;
  readonly otherMisses: readonly string[];
  /** Errors that the honest receiver found. */
  readonly deliveryFaults: readonly string[];
  /** Other failures: the process ended, or the attack could not run. */
  readonly faults: readonly string[];
};

type Bounds = {
  /** Memory that may remain in use after an attack: caches and the reserve of the allocator. */
  readonly maxLeftMib: number;
  /** Bound on the p99 of the health check. */
  readonly maxHealthMs: number;
};

export const BOUNDS: Bounds = { maxLeftMib: 64, maxHealthMs: 500 };
/** Bounds for attacks of a few seconds: no garbage collection in between, and the p99 of 30 samples is the slowest one. */
export const SHORT_BOUNDS: Bounds = { maxLeftMib: 128, maxHealthMs: 1_500 };
/** Maximum duration of a tick of the consensus thread, without its waits for a processor. */
const MAX_TICK_MS = 200;
const MAX_GROWTH = 0.05;
/** Shorter attacks show the growth of caches. */
const MIN_GROWTH_MS = 600_000;
/** Caches fill in this share of the time. */
const WARM_UP_SHARE = 0.1;

/** Returns the row of an attack that was not observed. */
export const emptyRow = (attack: string): Row => ({
  attack,
  offered: 0,
  refused: 0,
  memoryMib: { before: 0, peak: 0, after: 0 },
  memoryGrowth: 0,
  client: [],
  health: [],
  longestTick: { ms: 0, wallMs: 0 },
  slotsForged: 0,
  slotsMissed: 0,
  expectedMisses: 0,
  otherMisses: [],
  deliveryFaults: [],
  faults: [],
});

/** Returns the growth from the mean of the first half of the samples to that of the last half, as a share. */
export function growthOf(samples: readonly number[], intervalMs: number): number {
  if (samples.length * intervalMs < MIN_GROWTH_MS) return 0;
  const warm = samples.slice(Math.ceil(samples.length * WARM_UP_SHARE));
  const middle = Math.floor(warm.length / 2);
  const sum = (part: readonly number[]) => part.reduce((total, each) => total + each, 0);
  const [first, last] = [warm.slice(0, middle), warm.slice(-middle)];
  return sum(last) / sum(first) - 1;
}

/** Returns the 99th percentile in milliseconds. */
function p99(samples: readonly Sample[]): number {
  const times = samples.map(({ ms }) => ms).sort((one, other) => one - other);
  return times[Math.ceil(times.length * 0.99) - 1] ?? 0;
}

const isRefused = ({ status }: Sample): boolean => status < 200 || status >= 300;

/** Returns the failures, each as a short name with figures; empty on success. */
export function failures(row: Row, { maxLeftMib, maxHealthMs }: Bounds): string[] {
  const { memoryMib, memoryGrowth, health, longestTick } = row;
  const unexpected = row.slotsMissed - row.expectedMisses;
  const left = memoryMib.after - memoryMib.before;
  const refusedClient = row.client.filter(isRefused);
  const refusedHealth = health.filter(isRefused);
  const checks: readonly (readonly [hasFailed: boolean, text: string])[] = [
    [left > maxLeftMib, `memory: ${Math.round(left)} MiB more than before`],
    [memoryGrowth > MAX_GROWTH, `memory: grew by ${(memoryGrowth * 100).toFixed(1)} %`],
    [p99(health) > maxHealthMs, `health: p99 ${Math.round(p99(health))} ms`],
    [refusedHealth.length > 0, `health refused: ${statuses(refusedHealth)}`],
    [longestTick.ms > (row.maxTickMs ?? MAX_TICK_MS), `longest consensus tick: ${tickText(longestTick)}`],
    [unexpected > 0, `slots missed: ${[unexpected, ...row.otherMisses].join("; ")}`],
    [refusedClient.length > 0, `honest requests refused: ${statuses(refusedClient)}`],
  ];
  return [
    ...checks.filter(([hasFailed]) => hasFailed).map(([, text]) => text),
    ...row.deliveryFaults.map((fault) => `delivery: ${fault}`),
    ...row.faults,
  ];
}

const tickText = ({ ms, wallMs }: LongestTick): string =>
  `${Math.round(ms)} ms${wallMs > ms + 1 ? `, ${Math.round(wallMs)} ms with waits for a processor` : ""}`;

/** Formats as `3 x 503 /health/live`; status 0 is a missing response. */
function statuses(samples: readonly Sample[]): string {
  const groups = Object.entries(Object.groupBy(samples, ({ status, path }) => `${status} ${path}`));
  return groups.map(([what, group]) => `${group?.length} x ${what}`).join(", ");
}

const COLUMNS: readonly (readonly [title: string, cell: (row: Row) => string | number])[] = [
  ["attack                 ", ({ attack }) => attack],
  ["offered", ({ offered }) => offered],
  ["refused", ({ refused }) => refused],
  [
    "MiB before/peak/after",
    ({ memoryMib: { before, peak, after } }) => [before, peak, after].map(Math.round).join(" / "),
  ],
  ["client p99", ({ client }) => `${Math.round(p99(client))} ms`],
  ["health p99", ({ health }) => `${Math.round(p99(health))} ms`],
  ["longest consensus tick", ({ longestTick }) => `${Math.round(longestTick.ms)} ms`],
  ["slots", ({ slotsForged }) => slotsForged],
  ["missed", ({ slotsMissed }) => slotsMissed],
];

export const TITLES = COLUMNS.map(([title]) => title).join("  ");

/** Formats a row below the titles, followed by its failures. */
export const formatRow = (row: Row, bounds: Bounds): string =>
  [
    COLUMNS.map(([{ length }, cell], column) =>
      column === 0 ? String(cell(row)).padEnd(length) : String(cell(row)).padStart(length),
    ).join("  "),
    ...failures(row, bounds).map((failure) => `    FAILED ${failure}`),
  ].join("\n");
