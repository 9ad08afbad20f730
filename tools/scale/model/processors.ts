/** Cores that each kind of process uses: CPU seconds in a second. */
import type { Costs } from "../costs.ts";
import type { Inputs } from "../inputs.ts";
import type { Demand } from "./demand.ts";

export type Cores = {
  /** Thread of the node that executes and writes transactions and blocks. */
  readonly consensus: number;
  /** Its other threads, without live streams: HTTP of submissions, signatures. */
  readonly submissions: number;
  /** Live streams, in the thread that serves HTTP. */
  readonly streams: number;
  readonly mirror: number;
  /** Writes of the primary: blocks of the mirror, and deliveries. */
  readonly primary: number;
  /** Reads, on all replicas together. */
  readonly replicas: number;
  readonly servers: number;
  readonly workers: number;
};

const US_PER_SECOND = 1e6;

export function coresOf(demand: Demand, inputs: Inputs, costs: Costs): Cores {
  const { blocks, transfers, resources, pages, calls, events } = demand;
  const us: Cores = {
    consensus: blocks * costs.nodeBlockUs + transfers * costs.consensusTransactionUs,
    submissions: transfers * (costs.nodeTransactionUs - costs.consensusTransactionUs),
    streams: inputs.streams * events * costs.streamEventUs,
    mirror: blocks * costs.mirrorBlockUs + transfers * costs.mirrorTransferUs,
    primary:
      blocks * costs.primaryBlockUs + transfers * costs.primaryTransferUs + calls * costs.primaryDeliveryUs,
    replicas: resources * costs.replicaResourceUs + pages * costs.replicaPageUs,
    servers: resources * costs.serverResourceUs + pages * costs.serverPageUs,
    workers: calls * costs.workerDeliveryUs,
  };
  return mapValues(us, (value) => value / US_PER_SECOND);
}

const mapValues = (cores: Cores, change: (value: number) => number): Cores =>
  Object.fromEntries(Object.entries(cores).map(([name, value]) => [name, change(value)])) as Cores;
