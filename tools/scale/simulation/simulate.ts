/** Discrete-event simulation of a plan: requests and blocks meet queues with the measured service times. */
import type { Costs } from "../costs.ts";
import type { Plan } from "../model/plan.ts";
import { simulateReads } from "./reads.ts";
import type { Stage } from "./stage.ts";
import { simulateWrites, type Writes } from "./writes.ts";

export type Simulated = { readonly reads: readonly Stage[]; readonly writes: Writes };

export type SimulationOptions = {
  /** The same seed gives the same result. */
  readonly seed: number;
  /** Number of requests, and about the number of calls of receivers. Default: 200,000. */
  readonly jobs?: number;
};

const JOBS = 200_000;

export const simulatePlan = (
  plan: Plan,
  costs: Costs,
  { seed, jobs = JOBS }: SimulationOptions,
): Simulated => ({
  reads: simulateReads(plan, costs, { seed, jobs }),
  writes: simulateWrites(plan, costs, { seed, jobs }),
});
