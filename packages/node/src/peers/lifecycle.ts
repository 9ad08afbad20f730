/** Lifecycle of the peers of a node: found, verified, kept and dropped (p2p.md 10). */
import { randomUUID } from "node:crypto";
import type { Network, Slots } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { Chain } from "../chain/chain.ts";
import { clientGroup } from "../platform/addresses.ts";
import type { Closing } from "../platform/lifecycle/closing.ts";
import type { PeerStore } from "../store/node/peers.ts";
import { matchesAddress } from "./addresses.ts";
import { Candidates, createPing, type Ping } from "./discovery/candidates.ts";
import { Discovery } from "./discovery/discovery.ts";
import { Bans } from "./guards/refusals.ts";
import { type Peer, type PeerChange, PeerTable } from "./peer-table.ts";
import { localAddressOf, type PeersOptions } from "./peers-options.ts";
import { PeerError } from "./transport/calls.ts";
import { PeerClient } from "./transport/client.ts";
import { Traffic } from "./transport/memory-bounds.ts";
import type { VerifyDeps } from "./verify-chain.ts";
import { allowedVersions, isVersionAllowed } from "./versions.ts";

export type PeerLifecycleDeps = Pick<VerifyDeps, "rounds" | "verify"> & {
  readonly network: Network;
  readonly slots: Slots;
  readonly chain: Chain;
  readonly store: PeerStore;
  readonly onPeer: (peer: Peer, change: PeerChange) => void;
  readonly nowMs: () => number;
  readonly logger: Logger;
};

export type PeerLifecycle = {
  readonly peerTable: PeerTable;
  readonly client: PeerClient;
  readonly candidates: Candidates;
  readonly discovery: Discovery;
  readonly bans: Bans;
  readonly traffic: Traffic;
  /** Returns true if an address is neither accepted nor dialled. */
  readonly isRefused: (address: string) => boolean;
  /** Random text by which this process recognises a connection to itself. */
  readonly processId: string;
};

/** @param closing collects the close functions of everything that is opened */
export function createPeerLifecycle(
  options: PeersOptions,
  deps: PeerLifecycleDeps,
  closing: Pick<Closing, "add">,
): PeerLifecycle {
  const { network, chain, store, logger, nowMs } = deps;
  const processId = randomUUID();
  const traffic = new Traffic();
  const peerTable = new PeerTable((peer, change) => {
    if (change === "removed") reconnect.add(peer.ip);
    deps.onPeer(peer, change);
  });
  const client = new PeerClient(
    { port: options.port, localAddress: localAddressOf(options) },
    {
      network,
      onHeight: (ip, height) => peerTable.update(ip, { height }),
      onSocket: (socket) => traffic.watch(socket),
      onLate: (address) => void candidates.dial(address, { isConnected: true }),
    },
  );
  closing.add("outgoing connections", () => client.close());
  const drop: Drop = (ip) => {
    peerTable.remove(ip);
    client.disconnect(ip);
  };
  const bans = createPeerBans(deps, peerTable, drop);
  const isBlacklisted = matchesAddress(options.blacklist);
  const isRefused = (address: string) => bans.isBanned(address) || isBlacklisted(address);
  const connections = { peerTable, client, processId, isRefused };
  const ping = createPeerPing(deps, connections);
  const candidates = createPeerCandidates(options, { ...connections, ping, logger });
  const reconnect = new Reconnect((ip) => candidates.dial(ip));
  closing.add("lost peers", () => reconnect.close());
  const { seeds, sources, minPeers } = options;
  const isOpen = options.discovery === "all";
  const discovery = new Discovery(
    { seeds, sources, minPeers, isOpen },
    { peerTable, candidates, ping, client, store, nowMs, logger },
  );
  closing.add("discovery", () => discovery.close());
  closing.add("versions", dropOldVersions(network, chain, peerTable, drop));
  return { peerTable, client, candidates, discovery, bans, traffic, isRefused, processId };
}

type Drop = (ip: string) => void;

type Connections = Pick<PeerLifecycle, "peerTable" | "client" | "processId" | "isRefused">;

/** A ban also drops all peers of the same client. */
const createPeerBans = (
  { store, nowMs, logger }: PeerLifecycleDeps,
  peerTable: PeerTable,
  drop: Drop,
): Bans =>
  new Bans({
    store,
    nowMs,
    logger,
    onBan(ip) {
      drop(ip);
      store.forget(ip);
      for (const peer of peerTable.all()) if (clientGroup(peer.ip) === clientGroup(ip)) drop(peer.ip);
    },
  });

const createPeerPing = (
  { network, slots, rounds, chain, verify, nowMs }: PeerLifecycleDeps,
  { peerTable, client, processId }: Connections,
): Ping =>
  createPing({
    processId,
    network,
    slots,
    rounds,
    state: chain.state,
    verify,
    now: () => slots.timeAt(nowMs()),
    head: chain.head,
    header: (height) => chain.blocks.header(height),
    peerTable,
    request: client.request,
  });

function createPeerCandidates(
  options: PeersOptions,
  {
    peerTable,
    client,
    isRefused,
    ping,
    logger,
  }: Connections & { readonly ping: Ping; readonly logger: Logger },
): Candidates {
  return new Candidates(
    {
      isDisabled: options.discovery === "none",
      maxPeersPerSubnet: options.maxPeersPerSubnet,
      loopback: options.allowsLoopback ? { own: options.host } : undefined,
    },
    {
      peerTable,
      ping,
      isBanned: isRefused,
      disconnect: (ip) => client.disconnect(ip),
      logger,
    },
  );
}

/** Drops peers with versions that a milestone excludes, with its block (p2p.md 10.5). Returns a function that ends this. */
const dropOldVersions = (network: Network, chain: Chain, peerTable: PeerTable, drop: Drop) =>
  chain.subscribe(({ applied }) => {
    if (!applied.some(({ block }) => network.isMilestone(block.header.height))) return;
    const ranges = allowedVersions(network, chain.head().height);
    for (const { ip, status } of peerTable.all()) {
      if (!isVersionAllowed(status.config.version, ranges, network.description.name)) drop(ip);
    }
  });

/** Returns requests that drop an unresponsive peer (p2p.md 10.6, 16); another verification makes it a peer again. */
export const dropUnresponsive =
  (client: Pick<PeerClient, "request" | "disconnect">, peerTable: PeerTable): PeerClient["request"] =>
  async (ip, event, argument, limits, onSent) => {
    try {
      return await client.request(ip, event, argument, limits, onSent);
    } catch (error) {
      // An error in a reply, or a full queue of our own, is not a reason to drop the peer.
      if (error instanceof PeerError && error.code !== "PEER_REFUSED" && error.code !== "PEER_BUSY") {
        client.disconnect(ip);
        peerTable.remove(ip);
      }
      throw error;
    }
  };

/** Pause between two dials of a lost peer. */
const RECONNECT_MS = 15_000;
const MAX_RECONNECTS = 20;
/** Lost peers that are dialled at a time; further ones are ignored. */
const MAX_LOST_PEERS = 200;

/** Dials lost peers again for a while, so that a node that restarts is found at once. */
export class Reconnect {
  readonly #dial: (ip: string) => Promise<boolean>;
  readonly #triesLeft = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  /** @param dial dials an address; settles with whether it is a peer afterwards */
  constructor(dial: (ip: string) => Promise<boolean>) {
    this.#dial = dial;
    this.#timer = setInterval(() => {
      for (const [ip, left] of this.#triesLeft) void this.#attempt(ip, left);
    }, RECONNECT_MS);
  }

  /** Adds a peer that was lost. */
  add(ip: string): void {
    if (this.#triesLeft.size < MAX_LOST_PEERS) this.#triesLeft.set(ip, MAX_RECONNECTS);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #attempt(ip: string, left: number): Promise<void> {
    if (left === 0 || (await this.#dial(ip))) this.#triesLeft.delete(ip);
    else this.#triesLeft.set(ip, left - 1);
  }
}
