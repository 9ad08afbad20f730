/** The peers that passed their verification, by address. */
import type { Peer } from "./peer.ts";

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
