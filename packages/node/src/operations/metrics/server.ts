/** Metrics of an API server: its calls to nodes, and the lag of its database. */
import type { CallFigures } from "../../platform/threads/open-calls.ts";
import { Counter, Gauge, type Registry } from "./instruments.ts";

export type ServerFigures = {
  /** `gateway`: calls with a result; `forwarded`: whole requests. */
  readonly calls: Readonly<Record<"gateway" | "forwarded", CallFigures>>;
  /** Blocks that the database is behind the node; undefined while either is unknown. */
  readonly lag: number | undefined;
};

export function createServerMetrics(registry: Registry): (figures: ServerFigures) => void {
  const registers = [registry];
  const labelNames = ["kind"] as const;
  const lag = new Gauge({
    name: "uniknode_server_blocks_behind",
    help: "Blocks that the database is behind the node.",
    registers,
  });
  const open = new Gauge({
    name: "uniknode_server_calls",
    help: "Requests to nodes that are in progress.",
    ...{ labelNames, registers },
  });
  const failed = new Counter({
    name: "uniknode_server_calls_failed_total",
    help: "Requests to nodes that timed out or were refused because too many were in progress.",
    labelNames: ["kind", "reason"] as const,
    registers,
  });
  return ({ calls, lag: blocks }) => {
    lag.set(blocks ?? Number.NaN);
    failed.reset();
    for (const [kind, figures] of Object.entries(calls)) {
      open.set({ kind }, figures.open);
      failed.inc({ kind, reason: "timeout" }, figures.timedOut);
      failed.inc({ kind, reason: "refused" }, figures.refused);
    }
  };
}
