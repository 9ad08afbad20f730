/** Work that one core does in a second if it does nothing else. */
import type { CostName, Costs } from "../costs.ts";

export type Rate = { readonly process: string; readonly work: string; readonly perSecond: number };

const RATES: readonly (readonly [process: string, work: string, costs: readonly CostName[]])[] = [
  ["node", "submitted transactions, in the thread of consensus", ["consensusTransactionUs"]],
  ["node", "empty blocks that it replays", ["nodeBlockUs"]],
  ["node", "transfers in blocks that it replays", ["nodeTransferUs"]],
  ["node", "events of live streams", ["streamEventUs"]],
  [
    "mirror, in turns with PostgreSQL",
    "empty blocks with which it catches up",
    ["mirrorBlockUs", "primaryBlockUs"],
  ],
  [
    "mirror, in turns with PostgreSQL",
    "transfers in these blocks",
    ["mirrorTransferUs", "primaryTransferUs"],
  ],
  ["API server", "single resources", ["serverResourceUs"]],
  ["API server", "pages of 100 rows", ["serverPageUs"]],
  ["PostgreSQL, a replica", "single resources", ["replicaResourceUs"]],
  ["PostgreSQL, a replica", "pages of 100 rows", ["replicaPageUs"]],
  ["delivery worker", "deliveries", ["workerDeliveryUs"]],
  ["PostgreSQL, the primary", "deliveries", ["primaryDeliveryUs"]],
];

const US_PER_SECOND = 1e6;

export const ratesOf = (costs: Costs): Rate[] =>
  RATES.map(([process, work, names]) => ({
    ...{ process, work },
    perSecond: US_PER_SECOND / names.reduce((sum, name) => sum + costs[name], 0),
  }));
