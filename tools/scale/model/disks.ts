/** Bytes on disk after the years, without the space that a database reserves. */
import type { Costs } from "../costs.ts";
import type { Inputs } from "../inputs.ts";
import type { Demand } from "./demand.ts";

export type Disks = {
  /** Deliveries in the log: the bound of their number or of their age. */
  readonly loggedDeliveries: number;
  /** Days that they stay. */
  readonly loggedDays: number;
  /** Facts of the chain in the tree of the node. */
  readonly facts: number;
  readonly node: number;
  readonly postgres: number;
  /** Part of `postgres` that is the log of deliveries. */
  readonly log: number;
};

const SECONDS_PER_DAY = 86_400;

export function disksOf(demand: Demand, inputs: Inputs, costs: Costs): Disks {
  const blocks = inputs.blocksPerYear * inputs.years;
  const transfers = blocks * inputs.transfersPerBlock;
  const facts = blocks * costs.blockFacts + transfers * costs.transferFacts;
  const perDay = demand.deliveries * SECONDS_PER_DAY;
  const loggedDeliveries = Math.min(inputs.logSize, perDay * inputs.logDays);
  const log = loggedDeliveries * costs.postgresDeliveryBytes;
  return {
    loggedDeliveries,
    loggedDays: perDay === 0 ? inputs.logDays : loggedDeliveries / perDay,
    facts,
    log,
    node:
      blocks * costs.sqliteBlockBytes +
      transfers * costs.sqliteTransferBytes +
      inputs.wallets * costs.sqliteWalletBytes +
      facts * costs.sqliteFactBytes,
    postgres:
      blocks * costs.postgresBlockBytes +
      transfers * costs.postgresTransferBytes +
      inputs.wallets * costs.postgresWalletBytes +
      log,
  };
}
