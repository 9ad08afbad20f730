/** Work in a second that follows from the inputs. */
import type { Inputs } from "../inputs.ts";
import { FIXED } from "./fixed.ts";

export type Demand = {
  readonly blocks: number;
  readonly transfers: number;
  /** Requests in the busiest minute: single resources and pages. */
  readonly resources: number;
  readonly pages: number;
  /** Open connections of readers: each keeps its own until it is idle for too long. */
  readonly connections: number;
  readonly deliveries: number;
  /** Calls of receivers, with those of retries. */
  readonly calls: number;
  /** Events of the log: one for each block, and for each transaction. */
  readonly events: number;
};

const SECONDS_PER_YEAR = 365.25 * 86_400;

export function demandOf(inputs: Inputs): Demand {
  const blocks = inputs.blocksPerYear / SECONDS_PER_YEAR;
  const transfers = blocks * inputs.transfersPerBlock;
  const requests = (inputs.readers * inputs.requestsPerMinute * inputs.peak) / 60;
  const deliveries = blocks * inputs.deliveriesPerBlock;
  return {
    blocks,
    transfers,
    resources: requests * (1 - inputs.pageShare),
    pages: requests * inputs.pageShare,
    connections: Math.min(inputs.readers, requests * FIXED.idleSeconds),
    deliveries,
    calls: deliveries * inputs.attempts,
    events: blocks + transfers,
  };
}
