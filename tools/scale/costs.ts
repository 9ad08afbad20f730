/** Measured costs of one unit of work, each with the benchmark that measured it (`costs.json`). */
import data from "./costs.json" with { type: "json" };

export type CostName = keyof typeof data;

/** The unit is the end of the name: `Us` is microseconds of CPU time, `Bytes`, `Mb`, `Rows`, `Facts` or `Sockets`. */
export type Costs = Readonly<Record<CostName, number>>;

export type MeasuredCost = {
  readonly value: number;
  readonly meaning: string;
  /** Command that measures it. */
  readonly source: string;
  readonly date: string;
};

export const MEASURED: Readonly<Record<CostName, MeasuredCost>> = data;

export const costs = Object.fromEntries(
  Object.entries(MEASURED).map(([name, { value }]) => [name, value]),
) as Costs;
