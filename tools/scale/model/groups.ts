/** Processes and machines of each kind, and what they use. */
import type { Costs } from "../costs.ts";
import type { Inputs } from "../inputs.ts";
import type { Demand } from "./demand.ts";
import type { Disks } from "./disks.ts";
import { FIXED } from "./fixed.ts";
import type { Cores } from "./processors.ts";
import type { Traffic } from "./traffic.ts";

export type Kind = "node" | "mirror" | "primary" | "replica" | "server" | "worker";

/** Processes of one kind. Figures in a second are those of all processes together. */
export type Group = {
  readonly kind: Kind;
  readonly processes: number;
  /** Machines of which the group uses the cores; 0: it runs beside others. */
  readonly machines: number;
  readonly cores: number;
  /** Average use of the cores of the machines. */
  readonly share: number;
  /** Resident memory of a process; 0: as PostgreSQL is configured. */
  readonly memoryMb: number;
  readonly diskGb: number;
  readonly sentMbit: number;
  /** Sockets of a process. */
  readonly connections: number;
};

/** Numbers of processes and of their machines. A replica is a server of PostgreSQL on a machine of its own. */
export type Counts = {
  readonly servers: number;
  readonly serverMachines: number;
  readonly workers: number;
  readonly workerMachines: number;
  readonly replicas: number;
};

export type Parts = {
  readonly inputs: Inputs;
  readonly demand: Demand;
  readonly cores: Cores;
  readonly disks: Disks;
  readonly traffic: Traffic;
  readonly counts: Counts;
};

/** An API server and a worker each use one core. Their sockets are limited as well, and the network of their machines. */
export function countsOf(
  { cores, traffic, demand }: Pick<Parts, "cores" | "traffic" | "demand">,
  inputs: Inputs,
): Counts {
  const { cores: perMachine, load, networkMbit } = inputs;
  const needed = (used: number, available: number) => Math.ceil(used / (available * load));
  const accepted = FIXED.sockets - FIXED.serverConnections;
  const servers = Math.max(needed(cores.servers, 1), Math.ceil(demand.connections / accepted));
  const workers =
    demand.calls === 0 ? 0 : Math.max(needed(cores.workers, 1), workersForCalls(demand, inputs));
  const machines = (processes: number, sentMbit: number) =>
    Math.max(Math.ceil(processes / perMachine), needed(sentMbit, networkMbit));
  return {
    servers,
    serverMachines: machines(servers, traffic.read),
    workers,
    workerMachines: machines(workers, traffic.called),
    replicas: Math.max(needed(cores.replicas, perMachine), needed(traffic.read, networkMbit)),
  };
}

/** Number of workers that have the sockets for all webhooks, and the places for all concurrent calls. */
function workersForCalls({ calls }: Demand, { webhooks, receiverMs }: Inputs): number {
  const sockets = FIXED.sockets - FIXED.sharedCalls - FIXED.workerConnections;
  const concurrent = (calls * receiverMs) / 1_000;
  return Math.ceil(Math.max(webhooks / sockets, (concurrent - webhooks) / FIXED.sharedCalls));
}

/** Sockets of a worker: one for each webhook that keeps its connection, the shared calls, and its database. */
export function socketsOf(
  { webhooks }: Pick<Inputs, "webhooks">,
  { workers }: Pick<Counts, "workers">,
): number {
  if (workers === 0) return 0;
  const owned = Math.ceil(webhooks / Math.min(workers, FIXED.workers));
  return owned + FIXED.sharedCalls + FIXED.workerConnections;
}

const BYTES_PER_GB = 1e9;
const BYTES_PER_MB = 1e6;

export function groupsOf(parts: Parts, costs: Costs): Group[] {
  const { inputs, cores, disks, traffic, counts } = parts;
  const { servers, workers, replicas } = counts;
  const postgresGb = disks.postgres / BYTES_PER_GB;
  const group = groupIn(inputs);
  const reading = replicas === 0 ? 0 : Math.ceil((servers * FIXED.serverConnections) / replicas);
  const readers = servers === 0 ? 0 : parts.demand.connections / servers;
  const owned = workers === 0 ? 0 : inputs.webhooks / workers;
  return [
    group("node", [1, 1], cores.consensus + cores.submissions + cores.streams, {
      memoryMb: costs.nodeMb + (inputs.streams * costs.streamBytes) / BYTES_PER_MB,
      diskGb: disks.node / BYTES_PER_GB,
      sentMbit: traffic.feed + traffic.streamed,
      connections: inputs.streams + 1,
    }),
    group("mirror", [1, 0], cores.mirror, {
      memoryMb: costs.mirrorMb,
      sentMbit: traffic.wal,
      connections: FIXED.mirrorConnections,
    }),
    group("primary", [1, 1], cores.primary, {
      diskGb: postgresGb,
      sentMbit: traffic.wal * replicas,
      connections: workers * FIXED.workerConnections + FIXED.mirrorConnections + replicas,
    }),
    group("replica", [replicas, replicas], cores.replicas, {
      diskGb: postgresGb,
      sentMbit: traffic.read,
      connections: reading,
    }),
    group("server", [servers, counts.serverMachines], cores.servers, {
      memoryMb: costs.serverMb + (readers * costs.connectionBytes) / BYTES_PER_MB,
      sentMbit: traffic.read,
      connections: Math.ceil(readers) + (servers === 0 ? 0 : FIXED.serverConnections),
    }),
    group("worker", [workers, counts.workerMachines], cores.workers, {
      memoryMb: costs.workerMb + (owned * costs.workerWebhookBytes) / BYTES_PER_MB,
      sentMbit: traffic.called,
      connections: socketsOf(inputs, counts),
    }),
  ];
}

const NOTHING = { memoryMb: 0, diskGb: 0, sentMbit: 0, connections: 0 };

/** A group without machines of its own counts the cores of its processes. */
const groupIn =
  ({ cores: perMachine }: Inputs) =>
  (
    kind: Kind,
    [processes, machines]: readonly [number, number],
    cores: number,
    rest: Partial<Group>,
  ): Group => {
    const available = machines === 0 ? processes : machines * perMachine;
    const share = available === 0 ? 0 : cores / available;
    return { kind, processes, machines, cores, share, ...NOTHING, ...rest };
  };
