/** Bytes that processes send to others, in Mbit/s. */
import type { Costs } from "../costs.ts";
import type { Inputs } from "../inputs.ts";
import type { Demand } from "./demand.ts";

export type Traffic = {
  /** Responses of API servers; their rows are about as large. */
  readonly read: number;
  /** Write-ahead log that a replica receives. */
  readonly wal: number;
  /** Requests to receivers. */
  readonly called: number;
  /** The feed of a mirror. */
  readonly feed: number;
  readonly streamed: number;
};

const BYTES_PER_MBIT = 1e6 / 8;

export function trafficOf(demand: Demand, { streams }: Inputs, costs: Costs): Traffic {
  const { blocks, transfers, resources, pages, deliveries, calls, events } = demand;
  const bytes: Traffic = {
    read: resources * costs.resourceBytes + pages * costs.pageBytes,
    wal:
      blocks * costs.walBlockBytes + transfers * costs.walTransferBytes + deliveries * costs.walDeliveryBytes,
    called: calls * costs.callBytes,
    feed: blocks * costs.feedBlockBytes + transfers * costs.feedTransferBytes,
    streamed: streams * events * costs.streamEventBytes,
  };
  return Object.fromEntries(
    Object.entries(bytes).map(([name, value]) => [name, value / BYTES_PER_MBIT]),
  ) as Traffic;
}
