/** Measurements of a node during an attack, and the bounds that the node must keep. */
import type { Report } from "../scenario.ts";
import { RESPONSE_TIMEOUT_MS, type Sample } from "./honest.ts";
import type { Measured } from "./siege.ts";
import type { LongestTick } from "./ticks.ts";

export const BOUNDS = {
  /** Memory that may remain in use after an attack: caches and the reserve of the allocator. */
  maxLeftMib: 64,
  /** Bound on the p99 of the health check. */
  maxHealthMs: 500,
};
export type Bounds = typeof BOUNDS;
/** Bounds for a few seconds: no garbage collection in between, and the p99 of 30 samples is the slowest one. It must respond. */
export const SHORT_BOUNDS: Bounds = { maxLeftMib: 128, maxHealthMs: RESPONSE_TIMEOUT_MS };
/** Maximum duration of a tick of the consensus thread, without its waits for a processor. */
const MAX_TICK_MS = 200;
/** Longest time without a processor in which no slot can be missed. */
const MAX_STOP_MS = 1_000;
const MAX_GROWTH = 0.05;
/** Shorter attacks show the growth of caches. */
const MIN_GROWTH_MS = 600_000;
/** Caches fill in this share of the time. */
const WARM_UP_SHARE = 0.1;

/** Returns the growth from the mean of the first half of the samples to that of the last half, as a share. */
export function growthOf(samples: readonly number[], intervalMs: number): number {
  if (samples.length * intervalMs < MIN_GROWTH_MS) return 0;
  const warm = samples.slice(Math.ceil(samples.length * WARM_UP_SHARE));
  const middle = Math.floor(warm.length / 2);
  const sum = (part: readonly number[]) => part.reduce((total, each) => total + each, 0);
  const [first, last] = [warm.slice(0, middle), warm.slice(-middle)];
  return sum(last) / sum(first) - 1;
}

function p99(samples: readonly Sample[]): number {
  const times = samples.map(({ ms }) => ms).sort((one, other) => one - other);
  return Math.round(times[Math.ceil(times.length * 0.99) - 1] ?? 0);
}

const isRefused = ({ status }: Sample): boolean => status < 200 || status >= 300;

export function reportOf(measured: Measured, { maxLeftMib, maxHealthMs }: Bounds): Report {
  const { memoryMib, memoryGrowth, client, health, slotsForged, slotsMissed } = measured;
  const { longestTick, maxTickMs = MAX_TICK_MS } = measured;
  const unexpected = slotsMissed - measured.expectedMisses;
  // A thread without a processor misses slots, too.
  const wasStopped = longestTick.wallMs - longestTick.ms > MAX_STOP_MS;
  const left = memoryMib.after - memoryMib.before;
  const [refusedClient, refusedHealth] = [client.filter(isRefused), health.filter(isRefused)];
  const checks: readonly (readonly [hasFailed: boolean, text: string])[] = [
    [left > maxLeftMib, `memory: ${Math.round(left)} MiB more than before`],
    [memoryGrowth > MAX_GROWTH, `memory: grew by ${(memoryGrowth * 100).toFixed(1)} %`],
    [p99(health) > maxHealthMs, `health: p99 ${p99(health)} ms`],
    [refusedHealth.length > 0, `health refused: ${statuses(refusedHealth)}`],
    [longestTick.ms > maxTickMs, `longest consensus tick: ${tickText(longestTick)}`],
    [unexpected > 0 && !wasStopped, `slots missed: ${[unexpected, ...measured.otherMisses].join("; ")}`],
    [refusedClient.length > 0, `honest requests refused: ${statuses(refusedClient)}`],
  ];
  return {
    faults: [...checks.flatMap(([hasFailed, text]) => (hasFailed ? text : [])), ...measured.faults],
    figures: {
      ...{ offered: measured.offered, refused: measured.refused },
      "MiB before": Math.round(memoryMib.before),
      "MiB peak": Math.round(memoryMib.peak),
      "MiB after": Math.round(memoryMib.after),
      "client p99 ms": p99(client),
      "health p99 ms": p99(health),
      "longest tick ms": Math.round(longestTick.ms),
      ...{ slots: slotsForged, missed: slotsMissed },
    },
  };
}

const tickText = ({ ms, wallMs }: LongestTick): string =>
  `${Math.round(ms)} ms${wallMs > ms + 1 ? `, ${Math.round(wallMs)} ms with waits for a processor` : ""}`;

/** Formats as `3 x 503 /health/live`; status 0 is a missing response. */
function statuses(samples: readonly Sample[]): string {
  const groups = Object.entries(Object.groupBy(samples, ({ status, path }) => `${status} ${path}`));
  return groups.map(([what, group]) => `${group?.length} x ${what}`).join(", ");
}
