/** Time that new processes need for the whole chain after the years, if they use one core all the time. */
import type { Costs } from "../costs.ts";
import type { Inputs } from "../inputs.ts";

export type CatchUp = {
  /** A node that verifies every block. */
  readonly nodeHours: number;
  /** A mirror, which works in turns with PostgreSQL. */
  readonly mirrorHours: number;
};

const US_PER_HOUR = 3.6e9;

export function catchUpOf({ blocksPerYear, transfersPerBlock, years }: Inputs, costs: Costs): CatchUp {
  const blocks = blocksPerYear * years;
  const transfers = blocks * transfersPerBlock;
  const hours = (block: number, transfer: number) => (blocks * block + transfers * transfer) / US_PER_HOUR;
  return {
    nodeHours: hours(costs.nodeBlockUs, costs.nodeTransferUs),
    mirrorHours: hours(
      costs.mirrorBlockUs + costs.primaryBlockUs,
      costs.mirrorTransferUs + costs.primaryTransferUs,
    ),
  };
}
