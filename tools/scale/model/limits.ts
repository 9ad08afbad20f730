/** The use of everything that cannot be extended by another process of the same kind, and the remedy beyond it. */
import { FIXED } from "./fixed.ts";
import { type Parts, socketsOf } from "./groups.ts";

export type Limit = {
  readonly name: string;
  readonly used: number;
  readonly available: number;
  readonly unit: string;
  /** Above 1: the limit is exceeded. */
  readonly share: number;
  readonly remedy: string;
};

type Given = Omit<Limit, "share">;

/** Returns all limits, the tightest first. */
export const limitsOf = (parts: Parts): Limit[] =>
  [...processorLimits(parts), ...readLimits(parts), ...webhookLimits(parts), ...diskLimits(parts)]
    .map((limit) => ({ ...limit, share: limit.used / limit.available }))
    .sort((a, b) => b.share - a.share);

const limit = (
  name: string,
  [used, available, unit]: readonly [number, number, string],
  remedy: string,
): Given => ({
  ...{ name, used, available, unit, remedy },
});

const processorLimits = ({
  inputs: { load, cores: perMachine, transfersPerBlock },
  cores,
}: Parts): Given[] => [
  limit(
    "execution on one consensus node",
    [cores.consensus, load, "cores"],
    "faster cores; every node executes every transaction, so more nodes do not help",
  ),
  limit(
    "transactions in a block",
    [transfersPerBlock, FIXED.transfers, "transactions"],
    "none: a rule of the network",
  ),
  limit(
    "writes of one mirror",
    [cores.mirror, load, "cores"],
    "faster cores; blocks are written one after the other",
  ),
  limit(
    "writes of one primary",
    [cores.primary, perMachine * load, "cores"],
    "more cores; then a second database with a mirror and workers of its own, for a part of the webhooks",
  ),
];

const readLimits = ({ inputs, demand, cores, traffic, counts }: Parts): Given[] => [
  limit(
    "sockets of one API server",
    [demand.connections / Math.max(1, counts.servers) + FIXED.serverConnections, FIXED.sockets, "sockets"],
    "more servers, or a load balancer that keeps few connections to them; raise --http-connections up to there",
  ),
  limit(
    "replicas of one primary",
    [counts.replicas, FIXED.replicas, "replicas"],
    "a higher max_wal_senders; cascading replicas; a mirror and a primary in each region",
  ),
  limit(
    "network of the primary",
    [traffic.wal * counts.replicas, inputs.networkMbit * inputs.load, "Mbit/s"],
    "cascading replicas",
  ),
  limit(
    "live streams of one node",
    [inputs.streams, FIXED.streams, "streams"],
    "more nodes, each with API servers of its own; or polling with X-Uniknode-At-Least",
  ),
  limit(
    "HTTP of one node",
    [cores.submissions + cores.streams, inputs.load, "cores"],
    "more nodes, each of them the first in --node of other API servers",
  ),
];

function webhookLimits({ inputs, demand, counts }: Parts): Given[] {
  const workers = Math.min(counts.workers, FIXED.workers);
  const places = Math.max(1, inputs.webhooks + workers * FIXED.sharedCalls);
  return [
    limit(
      "webhooks of one register",
      [inputs.webhooks, FIXED.webhooks, "webhooks"],
      "a second node, with a mirror and a database of its own, for a part of the webhooks; NATS targets",
    ),
    limit(
      "delivery workers of one database",
      [counts.workers, FIXED.workers, "workers"],
      "a second database with a mirror of its own, for a part of the webhooks",
    ),
    limit(
      "sockets of one worker",
      [socketsOf(inputs, counts), FIXED.sockets, "sockets"],
      "more workers; a higher LimitNOFILE",
    ),
    limit(
      "concurrent calls of all workers",
      [(demand.calls * inputs.receiverMs) / 1_000, places, "calls"],
      "more workers; receivers that store a message and respond at once",
    ),
  ];
}

const BYTES_PER_GB = 1e9;

const diskLimits = ({ inputs: { diskGb }, disks }: Parts): Given[] => [
  limit(
    "disk of the node",
    [disks.node / BYTES_PER_GB, diskGb, "GB"],
    "a larger disk; every node has all blocks",
  ),
  limit(
    "disk of the primary and of each replica",
    [disks.postgres / BYTES_PER_GB, diskGb, "GB"],
    "a larger disk; old transactions in partitions by height on slower disks",
  ),
];
