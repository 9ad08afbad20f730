/** Metrics of the limits of the peer protocol: usage and refusals. */
import type { PeerBounds } from "../../gateway/figures.ts";
import { Counter, Gauge, type Registry, showTotal } from "./instruments.ts";

type PeerBoundsMetrics = { show(bounds: PeerBounds): void };

export function createPeerBoundsMetrics(registry: Registry): PeerBoundsMetrics {
  const registers = [registry];
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const counter = (name: string, help: string, label?: string) =>
    new Counter({ name, help, registers, ...(label && { labelNames: [label] }) });

  const sessions = gauge("uniknode_peers_sessions", "Inbound peer connections.");
  const handshakes = gauge(
    "uniknode_peers_sessions_unfinished",
    "Inbound peer connections that have not completed the handshake.",
  );
  const banned = gauge("uniknode_peers_banned", "Banned addresses.");
  const refused = counter(
    "uniknode_peers_sessions_refused_total",
    "Refused inbound peer connections, by reason.",
    "reason",
  );
  const cut = counter(
    "uniknode_peers_sessions_cut_total",
    "Inbound peer connections closed by the node, by reason.",
    "reason",
  );
  const evicted = counter(
    "uniknode_peers_sessions_evicted_total",
    "Inbound peer connections closed to make room for others.",
  );
  const dropped = counter(
    "uniknode_peers_posts_dropped_total",
    "Broadcasts to peers that were not sent, by content.",
    "content",
  );

  function showEach(metric: Counter, label: string, values: Readonly<Record<string, number>>): void {
    metric.reset();
    for (const [name, value] of Object.entries(values)) metric.inc({ [label]: name }, value);
  }

  return {
    show(bounds) {
      sessions.set(bounds.sessions);
      handshakes.set(bounds.handshakes);
      banned.set(bounds.banned);
      showEach(refused, "reason", bounds.refused);
      showEach(cut, "reason", bounds.cut);
      showTotal(evicted, bounds.evicted);
      showEach(dropped, "content", bounds.postsDropped);
    },
  };
}
