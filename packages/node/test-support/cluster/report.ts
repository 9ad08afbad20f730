/** The report of a run, as a table. */
import type { Occurrences } from "./rounds.ts";
import type { Counts } from "./verdict.ts";

export type ClusterReport = {
  readonly seed: number;
  /** Descriptions of failures. */
  readonly faults: readonly string[];
  /** Folder with the evidence of a run that failed. */
  readonly evidence?: string;
  readonly occurrences: ReadonlyMap<string, Occurrences>;
  readonly counts: Counts;
  readonly reads: {
    readonly reads: number;
    readonly wrong: number;
    /** Number of other responses, by code. */
    readonly failures: ReadonlyMap<string, number>;
  };
  /** Root of the facts, in hexadecimal digits, which node and mirror have. */
  readonly root: string;
  readonly chain: { readonly blocks: number; readonly undone: number; readonly events: number };
  /** Number of changes of the owner of a shard. */
  readonly changes: number;
  readonly rounds: number;
  /** Rounds after which the machine was too busy to catch up in time. */
  readonly busyRounds: number;
  /** Share of time in which processors of the machine were free. */
  readonly free: number;
  readonly submitted: number;
  /** Depth of each reorganisation. */
  readonly depths: readonly number[];
};

export const NO_COUNTS: Counts = {
  ...{ expected: 0, arrived: 0, lost: 0, repeated: 0, duplicated: 0, outOfOrder: 0, late: 0 },
};

export function addCounts(sum: Counts, counts: Counts): void {
  for (const name of Object.keys(sum) as (keyof Counts)[]) sum[name] += counts[name];
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** Returns the lines of the table, the failures, and the result in the last line. */
export function linesOf(report: ClusterReport): string[] {
  const { seed, faults, counts, reads, chain, root, depths } = report;
  const failures = [...reads.failures].map(([code, count]) => `${count} ${code}`).join(", ");
  const isPassed = faults.length === 0;
  return [
    ...nemesesTable(report.occurrences),
    `chain       ${chain.blocks} blocks, ${chain.undone} undone by ${depths.length} reorganisations of up to ` +
      `${Math.max(0, ...depths)} blocks, ${report.submitted} transactions, ${chain.events} events`,
    `deliveries  ${counts.expected} expected, ${counts.arrived} arrived, ${counts.lost} lost, ` +
      `${counts.repeated} calls repeated, ${counts.duplicated} of them duplicated, ${counts.outOfOrder} out of order, ` +
      `${counts.late} late`,
    `owners      ${report.changes} changes of shards`,
    `reads       ${reads.reads}, of which ${reads.wrong} wrong; others: ${failures || "none"}`,
    `facts       root ${root}`,
    `machine     ${Math.round(report.free * 100)} % of its processors free; overloaded after ${report.busyRounds} of ` +
      `${report.rounds} rounds of faults`,
    ...faults.map((fault) => `FAULT ${fault}`),
    ...(report.evidence === undefined ? [] : [`evidence    ${report.evidence}`]),
    isPassed
      ? `seed ${seed}: 0 lost, 0 duplicated, 0 out of order, 0 wrong reads`
      : `seed ${seed}: FAILED with ${faults.length} faults: ${counts.lost} lost, ${counts.duplicated} duplicated, ` +
        `${counts.outOfOrder} out of order, ${reads.wrong} wrong reads`,
  ];
}

function nemesesTable(occurrences: ClusterReport["occurrences"]): string[] {
  const rows = [...occurrences].map(([name, { count, longestLagMs, longestRecoveryMs }]) => [
    name,
    `${count}`,
    seconds(longestLagMs),
    seconds(longestRecoveryMs),
  ]);
  return [["fault", "count", "longest lag", "longest recovery"], ...rows].map(
    ([name = "", count = "", lag = "", recovery = ""]) =>
      `${name.padEnd(22)}${count.padStart(5)}${lag.padStart(14)}${recovery.padStart(18)}`,
  );
}
