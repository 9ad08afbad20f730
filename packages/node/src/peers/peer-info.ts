/** Peers as events and the HTTP API show them. */
import type { Network } from "@uniknode/protocol";
import type { PeerView } from "../events/node-events.ts";
import type { PeerInfo } from "../gateway/gateway.ts";
import type { Peer } from "./peer-table.ts";
import { headerFromPeer } from "./verification/header.ts";

export const peerInfo = ({ ip, status, height, latencyMs, ports }: Peer, port: number): PeerInfo => ({
  ip,
  port,
  ports,
  version: status.config.version,
  height,
  latency: Math.round(latencyMs),
});

type ViewContext = {
  /** Port of the network. */
  readonly port: number;
  readonly network: Network;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
};

export function peerView(peer: Peer, { port, network, nowMs }: ViewContext): PeerView {
  const { ip, status, latencyMs, ports, verification, verifiedAt } = peer;
  const { header, ...state } = status.state;
  return {
    ip,
    port,
    ports,
    version: status.config.version,
    latencyMs: Math.round(latencyMs),
    plugins: status.config.plugins,
    verification,
    lastPingedMs: Math.round(nowMs - (performance.now() - verifiedAt)),
    state: { ...state, ...(header && { header: headerFromPeer(header, network) }) },
  };
}
