/** Metrics of processes beside a node: its mirror, API server, delivery worker and witness. */
import type { MirrorFigures } from "../../gateway/figures.ts";
import type { CallFigures } from "../../platform/threads/call.ts";
import { type Counter, type Instruments, instrumentsOf, type Registry, showTotal } from "./instruments.ts";

/** Figures of an API server: its database, and its calls to nodes. */
export type ServerFigures = {
  /** `gateway`: calls with a result; `forwarded`: whole requests. */
  readonly calls: Readonly<Record<"gateway" | "forwarded", CallFigures>>;
  /** Height of the head in the database; undefined if it cannot be read. */
  readonly height: number | undefined;
  readonly isNodeUp: boolean;
  /** Height of the node; undefined if none responds, or if its chain is not that of the database. */
  readonly nodeHeight: number | undefined;
  /** Connections to the database, and requests that wait for one. */
  readonly connections: { readonly open: number; readonly waiting: number };
};

/** Returns the number of blocks that the database is behind the node; undefined while either is unknown. */
export const blocksBehind = ({
  height,
  nodeHeight,
}: Pick<ServerFigures, "height" | "nodeHeight">): number | undefined =>
  height === undefined || nodeHeight === undefined ? undefined : Math.max(0, nodeHeight - height);

export function createServerMetrics(registry: Registry): (figures: ServerFigures) => void {
  const instruments = instrumentsOf(registry);
  const gauge = (name: string, help: string) => instruments.gauge(`uniknode_server_${name}`, help);
  const head = gauge("head_height", "Height of the head in the database.");
  const lag = gauge("blocks_behind", "Blocks that the database is behind the node.");
  const isDatabaseUp = gauge("database_up", "1 if the database can be read, else 0.");
  const isNodeUp = gauge("node_up", "1 if a node responds, else 0.");
  const connections = gauge("database_connections", "Open connections to the database.");
  const waiting = gauge("database_waiting", "Requests that wait for a connection to the database.");
  const open = instruments.gauge("uniknode_server_calls", "Requests to nodes that are in progress.", "kind");
  const failed = instruments.counter(
    "uniknode_server_calls_failed_total",
    "Requests to nodes that timed out or were refused because too many were in progress.",
    "kind",
    "reason",
  );
  return (figures) => {
    head.set(figures.height ?? Number.NaN);
    lag.set(blocksBehind(figures) ?? Number.NaN);
    isDatabaseUp.set(figures.height === undefined ? 0 : 1);
    isNodeUp.set(figures.isNodeUp ? 1 : 0);
    connections.set(figures.connections.open);
    waiting.set(figures.connections.waiting);
    failed.reset();
    for (const [kind, calls] of Object.entries(figures.calls)) {
      open.set({ kind }, calls.open);
      failed.inc({ kind, reason: "timeout" }, calls.timedOut);
      failed.inc({ kind, reason: "refused" }, calls.refused);
    }
  };
}

/** Figures of a delivery worker: its lease, its shards and its database. */
export type WorkerFigures = {
  readonly isDatabaseUp: boolean;
  /** Shards that the worker owns; undefined if the database cannot be read, and while the node owns the webhooks. */
  readonly shards: number | undefined;
  /** Time until the end of the lease, in milliseconds. */
  readonly leaseMs: number;
  /** Connections to the database, and statements that wait for one. */
  readonly connections: { readonly open: number; readonly waiting: number };
};

export function createWorkerMetrics(registry: Registry): (figures: WorkerFigures) => void {
  const gauge = (name: string, help: string) =>
    instrumentsOf(registry).gauge(`uniknode_worker_${name}`, help);
  const shards = gauge("shards", "Groups of webhooks, of 32, that this worker owns.");
  const lease = gauge("lease_remaining_seconds", "Time until the lease of this worker ends.");
  const isDatabaseUp = gauge("database_up", "1 if the database can be read, else 0.");
  const connections = gauge("database_connections", "Open connections to the database.");
  const waiting = gauge("database_waiting", "Statements that wait for a connection to the database.");
  return (figures) => {
    shards.set(figures.shards ?? Number.NaN);
    lease.set(figures.leaseMs / 1_000);
    isDatabaseUp.set(figures.isDatabaseUp ? 1 : 0);
    connections.set(figures.connections.open);
    waiting.set(figures.connections.waiting);
  };
}

/** Figures of a witness: its nodes, and the tree that it signed. */
type WitnessFigures = {
  readonly size: number;
  readonly height: number;
  /** Nodes by the result of the last round. */
  readonly agreed: number;
  readonly differing: number;
  readonly failed: number;
};

export function createWitnessMetrics(registry: Registry): (figures: WitnessFigures) => void {
  const gauge = (name: string, help: string) =>
    instrumentsOf(registry).gauge(`uniknode_witness_${name}`, help);
  const size = gauge("signed_leaves", "Leaves of the tree of facts that this witness signed.");
  const height = gauge("signed_height", "Height of the last block of this tree.");
  const agreed = gauge("nodes_agreed", "Nodes whose tree agreed in the last round.");
  const differing = gauge("nodes_differing", "Nodes whose tree differed in the last round.");
  const failed = gauge("nodes_failed", "Nodes without a usable checkpoint in the last round.");
  return (figures) => {
    size.set(figures.size);
    height.set(figures.height);
    agreed.set(figures.agreed);
    differing.set(figures.differing);
    failed.set(figures.failed);
  };
}

/** Creates the metrics of the mirror process that a node starts. */
export function createMirrorMetrics({ gauge, counter }: Instruments): (figures: MirrorFigures) => void {
  const up = gauge("uniknode_mirror_up", "1 if the mirror process runs, else 0.");
  const starts = counter(
    "uniknode_mirror_starts_total",
    "Starts of the mirror process since the node started.",
  );
  const height = gauge("uniknode_mirror_height", "Height of the last block of the mirror; 0 if unknown.");
  const lastEvent = gauge(
    "uniknode_mirror_last_event",
    "Sequence of the last event that the mirror has copied; 0 if unknown.",
  );
  let gaps: Counter | undefined;
  return (figures) => {
    up.set(figures.isRunning ? 1 : 0);
    showTotal(starts, figures.starts);
    height.set(figures.height);
    lastEvent.set(figures.lastEvent);
    if (figures.eventGaps === undefined) return;
    // The total is older than this process: a 0 before it is known would be followed by an increase.
    gaps ??= counter(
      "uniknode_mirror_event_gaps_total",
      "Times that events were missing in the log of the node, since the database was created.",
    );
    showTotal(gaps, figures.eventGaps);
  };
}
