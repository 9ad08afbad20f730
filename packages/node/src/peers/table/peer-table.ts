/** The peers that passed their verification, by address. */
import type { Peer } from "./peer.ts";

export type PeerChange = "added" | "removed";

export type PeerTable = {
  get(ip: string): Peer | undefined;
  all(): Peer[];
  /** Adds a peer, or replaces what is known of it. */
  put(peer: Peer): void;
  /** Told whatever the reason, so that who counts peers by their events counts right (decision 23). */
  remove(ip: string): void;
  /** A reply told another height. */
  setHeight(ip: string, height: number): void;
  setPorts(ip: string, ports: Readonly<Record<string, number>>): void;
};

export function createPeerTable(onChange: (peer: Peer, fate: PeerChange) => void): PeerTable {
  const peers = new Map<string, Peer>();

  function change(ip: string, changed: Partial<Peer>): void {
    const peer = peers.get(ip);
    if (peer) peers.set(ip, { ...peer, ...changed });
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
    setHeight: (ip, height) => change(ip, { height }),
    setPorts: (ip, ports) => change(ip, { ports }),
  };
}
