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

export class PeerTable {
  readonly #onChange: (peer: Peer, change: PeerChange) => void;
  readonly #peers = new Map<string, Peer>();

  constructor(onChange: (peer: Peer, change: PeerChange) => void) {
    this.#onChange = onChange;
  }

  get(ip: string): Peer | undefined {
    return this.#peers.get(ip);
  }

  all(): Peer[] {
    return [...this.#peers.values()];
  }

  /** Adds a peer, or replaces its entry. */
  put(peer: Peer): void {
    const isNew = !this.#peers.has(peer.ip);
    this.#peers.set(peer.ip, peer);
    if (isNew) this.#onChange(peer, "added");
  }

  /** Reported for every reason, so that a count of the events is the count of the peers (decision 23). */
  remove(ip: string): void {
    const peer = this.#peers.get(ip);
    if (!peer) return;
    this.#peers.delete(ip);
    this.#onChange(peer, "removed");
  }

  /** Changes the height that a reply claims, or the ports that were probed. */
  update(ip: string, changes: Partial<Pick<Peer, "height" | "ports">>): void {
    const peer = this.#peers.get(ip);
    if (peer) this.#peers.set(ip, { ...peer, ...changes });
  }
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
