/** Metrics of a delivery worker: its lease, its shards and its database. */
import { createGauge, type Registry } from "./instruments.ts";

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
  const gauge = (name: string, help: string) => createGauge(registry, `uniknode_worker_${name}`, help);
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
