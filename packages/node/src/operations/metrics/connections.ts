/** Metrics of connections by HTTP listener. */

import type { ConnectionFigures } from "../../http/connections/connections.ts";
import { Counter, Gauge, type Registry } from "./instruments.ts";

/** Figures by listener; undefined if there is no separate operations listener. */
export type ConnectionsOfListeners = {
  readonly api: ConnectionFigures;
  readonly operations: ConnectionFigures | undefined;
};

export function createConnectionMetrics(registry: Registry): {
  show(connections: Partial<ConnectionsOfListeners>): void;
} {
  const registers = [registry];
  const open = new Gauge({
    name: "uniknode_http_connections",
    help: "Open connections, by listener.",
    labelNames: ["listener"],
    registers,
  });
  const refused = new Counter({
    name: "uniknode_http_connections_refused_total",
    help: "New connections refused, by listener and by the limit that was reached.",
    labelNames: ["listener", "reason"],
    registers,
  });
  const closed = new Counter({
    name: "uniknode_http_connections_closed_total",
    help: "Open connections closed by the node, by listener and reason.",
    labelNames: ["listener", "reason"],
    registers,
  });

  return {
    show(connections) {
      refused.reset();
      closed.reset();
      for (const [listener, figures] of Object.entries(connections)) {
        if (!figures) continue;
        open.set({ listener }, figures.open);
        for (const [reason, count] of Object.entries(figures.refused))
          refused.inc({ listener, reason }, count);
        for (const [reason, count] of Object.entries(figures.closed)) closed.inc({ listener, reason }, count);
      }
    },
  };
}
