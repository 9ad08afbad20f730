/** Figures of all stations of one kind. */
import type { Station } from "./station.ts";

export type Stage = {
  readonly name: string;
  readonly servers: number;
  /** Average use that the model computes; at most 1 can be used. */
  readonly modelShare: number;
  readonly simulatedShare: number;
  readonly waitP50Ms: number;
  readonly waitP99Ms: number;
  /** Jobs that wait at the end. */
  readonly waiting: number;
};

export function stageOf(
  name: string,
  stations: readonly Station[],
  seconds: number,
  modelShare: number,
): Stage {
  const figures = stations.map((station) => station.figures());
  const sum = (read: (one: (typeof figures)[number]) => number) =>
    figures.reduce((total, one) => total + read(one), 0);
  const servers = sum((one) => one.servers);
  const waits = Float64Array.from(figures.flatMap((one) => one.waits)).sort();
  return {
    ...{ name, servers, modelShare },
    simulatedShare: servers === 0 ? 0 : sum((one) => one.busySeconds) / (servers * seconds),
    waitP50Ms: 1_000 * quantile(waits, 0.5),
    waitP99Ms: 1_000 * quantile(waits, 0.99),
    waiting: sum((one) => one.waiting),
  };
}

/** Returns the smallest value that is at least as large as a share of the sorted values; 0 if there are none. */
export const quantile = (sorted: Float64Array, share: number): number =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
