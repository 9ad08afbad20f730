/** The peers that passed their verification, by address, and functions for their branches, heights and random samples. */

import type { Network } from "@uniknode/protocol";
import type { PeerView } from "../events/node-events.ts";
import type { PeerInfo } from "../gateway/gateway.ts";
import { headerFromPeer } from "./peer-header.ts";
import type { ReceivedStatus } from "./wire/received.ts";

/** Comparison of two chains: heights of both heads, and of the highest block in both. */
export type Verification = {
  readonly myHeight: number;
  readonly hisHeight: number;
  readonly highestCommonHeight: number;
};

export type Peer = {
  readonly ip: string;
  /** Its last status. */
  readonly status: ReceivedStatus;
  /** Its last claimed height, from the status or the headers of a reply; not verified. */
  readonly height: number;
  /** Milliseconds until its last reply. */
  readonly latencyMs: number;
  /** Time of its last verification: milliseconds of a monotonic clock. */
  readonly verifiedAt: number;
  readonly verification: Verification;
  /** Port of each of its other services that was probed, by name; -1 if not reachable. */
  readonly ports: Readonly<Record<string, number>>;
};

export type PeerChange = "added" | "removed";

export type PeerTable = {
  get(ip: string): Peer | undefined;
  all(): Peer[];
  /** Adds a peer, or replaces its entry. */
  put(peer: Peer): void;
  /** Reported for every reason, so that a count of the events is the count of the peers (decision 23). */
  remove(ip: string): void;
  /** The height that a reply claims. */
  setHeight(ip: string, height: number): void;
  setPorts(ip: string, ports: Readonly<Record<string, number>>): void;
};

export function createPeerTable(onChange: (peer: Peer, change: PeerChange) => void): PeerTable {
  const peers = new Map<string, Peer>();

  function update(ip: string, changes: Partial<Peer>): void {
    const peer = peers.get(ip);
    if (peer) peers.set(ip, { ...peer, ...changes });
  }

  return {
    get: (ip) => peers.get(ip),
    all: () => [...peers.values()],
    put(peer) {
      const isNew = !peers.has(peer.ip);
      peers.set(peer.ip, peer);
      if (isNew) onChange(peer, "added");
    },
    remove(ip) {
      const peer = peers.get(ip);
      if (!peer) return;
      peers.delete(ip);
      onChange(peer, "removed");
    },
    setHeight: (ip, height) => update(ip, { height }),
    setPorts: (ip, ports) => update(ip, { ports }),
  };
}

/** Peers on our branch whose head is higher than ours. */
export const peersAhead = (peers: readonly Peer[], ownHeight: number): Peer[] =>
  peers.filter((peer) => !isForked(peer) && peer.verification.hisHeight > ownHeight);

/** Returns true if each of the two chains has a block that the other does not have. */
export const isForked = ({ verification }: Peer): boolean => {
  const { myHeight, hisHeight, highestCommonHeight } = verification;
  return highestCommonHeight !== myHeight && highestCommonHeight !== hisHeight;
};

/** Height of the network: the median of the heights that peers claim (p2p.md 13); 0 without peers. */
export function networkHeight(heights: readonly number[]): number {
  const known = heights.filter((height) => height > 0).toSorted((a, b) => a - b);
  return known[Math.floor(known.length / 2)] ?? 0;
}

/** Returns at most `count` of the items, each at most once, in random order: chooses among peers. */
export function sample<T>(items: readonly T[], count: number): T[] {
  const rest = [...items];
  const chosen: T[] = [];
  while (chosen.length < count && rest.length > 0) {
    chosen.push(...rest.splice(Math.floor(Math.random() * rest.length), 1));
  }
  return chosen;
}

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
