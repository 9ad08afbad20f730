/** The plan: what the inputs need, by the measured costs. */
import type { Costs } from "../costs.ts";
import type { Inputs } from "../inputs.ts";
import { type CatchUp, catchUpOf } from "./catch-up.ts";
import { demandOf } from "./demand.ts";
import { disksOf } from "./disks.ts";
import { countsOf, type Group, groupsOf, type Parts } from "./groups.ts";
import { type Limit, limitsOf } from "./limits.ts";
import { coresOf } from "./processors.ts";
import { trafficOf } from "./traffic.ts";

export type Plan = Parts & {
  readonly catchUp: CatchUp;
  readonly groups: readonly Group[];
  /** The tightest first. */
  readonly limits: readonly Limit[];
};

export function planOf(inputs: Inputs, costs: Costs): Plan {
  const demand = demandOf(inputs);
  const cores = coresOf(demand, inputs, costs);
  const traffic = trafficOf(demand, inputs, costs);
  const parts: Parts = {
    ...{ inputs, demand, cores, traffic },
    disks: disksOf(demand, inputs, costs),
    counts: countsOf({ cores, traffic, demand }, inputs),
  };
  return {
    ...parts,
    catchUp: catchUpOf(inputs, costs),
    groups: groupsOf(parts, costs),
    limits: limitsOf(parts),
  };
}
