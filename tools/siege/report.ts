/** Measurements of an attack, its failures, and the table of all attacks. */

import { present } from "../../packages/node/src/platform/present.ts";
import type { Sample } from "./observers/client.ts";
import type { LongestTick } from "./observers/ticks.ts";

export type Row = {
  readonly attack: string;
  readonly offered: number;
  readonly refused: number;
  /** Resident memory of the node: before, peak, and after the settle time. */
  readonly memoryMib: { readonly before: number; readonly peak: number; readonly after: number };
  readonly client: readonly Sample[];
  readonly health: readonly Sample[];
  /** Longest tick of the consensus thread. */
  readonly longestTick: LongestTick;
  /** Maximum of the attack for this tick, if lower than the usual one. */
  readonly maxTickMs?: number;
  readonly slotsForged: number;
  readonly slotsMissed: number;
  /** Expected missed slots: the attack declares their period and reason. */
  readonly expectedMisses: readonly { readonly reason: string; readonly slots: number }[];
  /** Other missed slots in the log, each with its reason. */
  readonly otherMisses: readonly string[];
  /** Errors that the honest receiver found. */
  readonly deliveryFaults: readonly string[];
  /** Other failures: the process ended, or the attack could not run. */
  readonly faults: readonly string[];
};

export type Bounds = {
  /** Memory that may remain in use after an attack: caches and the reserve of the allocator. */
  readonly maxLeftMib: number;
  /** Bound on the p99 of the health check. */
  readonly maxHealthMs: number;
  /** Maximum duration of a tick of the consensus thread, without its waits for a processor. */
  readonly maxTickMs: number;
};

/** Path of pending transactions, which the honest client also reads. */
export const POOL_PATH = "/api/v2/transactions/unconfirmed";

export const BOUNDS: Bounds = { maxLeftMib: 64, maxHealthMs: 500, maxTickMs: 200 };
/** Limits for attacks of a few seconds: no garbage collection in between, and the p99 of 30 samples is the slowest one. */
export const SHORT_BOUNDS: Bounds = { maxLeftMib: 128, maxHealthMs: 1_500, maxTickMs: 200 };

/** Returns the 99th percentile in milliseconds. */
export function p99(samples: readonly Sample[]): number {
  const times = samples.map(({ ms }) => ms).sort((one, other) => one - other);
  return times[Math.ceil(times.length * 0.99) - 1] ?? 0;
}

const expectedSlots = ({ expectedMisses }: Pick<Row, "expectedMisses">): number =>
  expectedMisses.reduce((sum, { slots }) => sum + slots, 0);

const isRefused = ({ status }: Sample): boolean => status < 200 || status >= 300;

/** Returns the failures, each as a short name with figures; empty on success. */
export function failures(row: Row, { maxLeftMib, maxHealthMs, maxTickMs }: Bounds): string[] {
  const { memoryMib, client, health, longestTick } = row;
  const unexpected = row.slotsMissed - expectedSlots(row);
  const left = memoryMib.after - memoryMib.before;
  const refusedClient = client.filter(isRefused);
  const refusedHealth = health.filter(isRefused);
  return [
    ...(left > maxLeftMib ? [`memory: ${Math.round(left)} MiB more than before`] : []),
    ...(p99(health) > maxHealthMs ? [`health: p99 ${Math.round(p99(health))} ms`] : []),
    ...(refusedHealth.length > 0 ? [`health refused: ${statuses(refusedHealth)}`] : []),
    ...(longestTick.ms > Math.min(maxTickMs, row.maxTickMs ?? maxTickMs)
      ? [`longest consensus tick: ${tickText(longestTick)}`]
      : []),
    ...(unexpected > 0 ? [`slots missed: ${[unexpected, ...row.otherMisses].join("; ")}`] : []),
    ...(refusedClient.length > 0 ? [`honest requests refused: ${statuses(refusedClient)}`] : []),
    ...row.deliveryFaults.map((fault) => `delivery: ${fault}`),
    ...row.faults,
  ];
}

const tickText = ({ ms, wallMs }: LongestTick): string =>
  `${Math.round(ms)} ms${wallMs > ms + 1 ? `, ${Math.round(wallMs)} ms with waits for a processor` : ""}`;

/** Formats as `3 x 503 /health/live`; status 0 is a missing response. */
function statuses(samples: readonly Sample[]): string {
  const counts = new Map<string, number>();
  for (const { status, path } of samples) {
    counts.set(`${status} ${path}`, (counts.get(`${status} ${path}`) ?? 0) + 1);
  }
  return [...counts].map(([what, count]) => `${count} x ${what}`).join(", ");
}

const COLUMNS = [
  "attack",
  "offered",
  "refused",
  "MiB before/peak/after",
  "client p99",
  "pool p99",
  "health p99",
  "longest consensus tick",
  "slots",
  "missed",
];

/** Formats the rows as aligned text, each followed by its expected slots and its failures. */
export function table(rows: readonly Row[], bounds: Bounds): string {
  const lines = [
    COLUMNS,
    ...rows.map(({ attack, offered, refused, memoryMib: { before, peak, after }, ...row }) => [
      attack,
      String(offered),
      String(refused),
      `${Math.round(before)} / ${Math.round(peak)} / ${Math.round(after)}`,
      `${Math.round(p99(row.client))} ms`,
      `${Math.round(p99(row.client.filter(({ path }) => path === POOL_PATH)))} ms`,
      `${Math.round(p99(row.health))} ms`,
      `${Math.round(row.longestTick.ms)} ms`,
      String(row.slotsForged),
      String(row.slotsMissed),
    ]),
  ];
  const widths = COLUMNS.map((_, column) => Math.max(...lines.map((line) => present(line[column]).length)));
  return lines
    .flatMap((line, index) => {
      const cells = line.map((cell, column) =>
        column === 0 ? cell.padEnd(present(widths[column])) : cell.padStart(present(widths[column])),
      );
      if (index === 0) return cells.join("  ");
      const row = present(rows[index - 1]);
      return [
        cells.join("  "),
        ...row.expectedMisses.map(({ reason, slots }) => `    expected: ${slots} slots missed, "${reason}"`),
        ...failures(row, bounds).map((failure) => `    FAILED ${failure}`),
      ];
    })
    .join("\n");
}
