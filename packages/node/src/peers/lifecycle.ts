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
  /** Ends the incoming connections of a banned client. */
  readonly endSessions: (address: string) => void;
  readonly nowMs: () => number;
  readonly logger: Logger;
};

export class PeerLifecycle {
  readonly peerTable: PeerTable;
  readonly client: PeerClient;
  readonly candidates: Candidates;
  readonly discovery: Discovery;
  readonly bans: Bans;
  readonly traffic = new Traffic();
  /** Random text by which this process recognises a connection to itself. */
  readonly processId = randomUUID();
  readonly #deps: PeerLifecycleDeps;
  readonly #reconnect: Reconnect;
  readonly #isBlacklisted: (address: string) => boolean;

  /** @param closing collects the close functions of everything that is opened */
  constructor(options: PeersOptions, deps: PeerLifecycleDeps, closing: Pick<Closing, "add">) {
    this.#deps = deps;
    const { network, chain, store, logger, nowMs } = deps;
    this.peerTable = new PeerTable((peer, change) => {
      if (change === "removed") this.#reconnect.add(peer.ip);
      deps.onPeer(peer, change);
    });
    this.client = new PeerClient(
      { port: options.port, localAddress: localAddressOf(options) },
      {
        network,
        onHeight: (ip, height) => this.peerTable.update(ip, { height }),
        onSocket: (socket) => this.traffic.watch(socket),
        onLate: (address) => void this.candidates.dial(address, { isConnected: true }),
      },
    );
    closing.add("outgoing connections", () => this.client.close());
    this.bans = new Bans({ store, nowMs, logger, onBan: (ip) => this.#banned(ip) });
    this.#isBlacklisted = matchesAddress(options.blacklist);
    const ping = this.#createPing();
    this.candidates = this.#createCandidates(options, ping);
    this.#reconnect = new Reconnect((ip) => this.candidates.dial(ip, { isLost: true }));
    closing.add("lost peers", () => this.#reconnect.close());
    const { seeds, sources, minPeers } = options;
    const { peerTable, candidates, client } = this;
    this.discovery = new Discovery(
      { seeds, sources, minPeers, isOpen: options.discovery === "all" },
      { peerTable, candidates, ping, client, store, nowMs, logger },
    );
    closing.add("discovery", () => this.discovery.close());
    closing.add(
      "versions",
      dropOldVersions(network, chain, peerTable, (ip) => this.#drop(ip)),
    );
  }

  /** Returns true if an address is neither accepted nor dialled. */
  isRefused(address: string): boolean {
    return this.bans.isBanned(address) || this.#isBlacklisted(address);
  }

  #drop(ip: string): void {
    this.peerTable.remove(ip);
    this.client.disconnect(ip);
  }

  /** A ban also drops all peers of the same client, and ends its connections. */
  #banned(ip: string): void {
    this.#deps.endSessions(ip);
    this.#drop(ip);
    this.#deps.store.forget(ip);
    for (const peer of this.peerTable.all())
      if (clientGroup(peer.ip) === clientGroup(ip)) this.#drop(peer.ip);
  }

  #createPing(): Ping {
    const { network, slots, rounds, chain, verify, nowMs } = this.#deps;
    return createPing({
      processId: this.processId,
      network,
      slots,
      rounds,
      state: chain.state,
      verify,
      now: () => slots.timeAt(nowMs()),
      head: chain.head,
      header: (height) => chain.blocks.header(height),
      peerTable: this.peerTable,
      isRefused: (address, since) =>
        this.isRefused(address) || this.candidates.isSuspendedSince(address, since),
      request: this.client.request,
    });
  }

  #createCandidates(options: PeersOptions, ping: Ping): Candidates {
    return new Candidates(
      {
        isDisabled: options.discovery === "none",
        maxPeersPerSubnet: options.maxPeersPerSubnet,
        loopback: options.allowsLoopback ? { own: options.host } : undefined,
      },
      {
        peerTable: this.peerTable,
        ping,
        isBanned: (address) => this.isRefused(address),
        disconnect: (ip) => this.client.disconnect(ip),
        logger: this.#deps.logger,
      },
    );
  }
}

/** Drops peers with versions that a milestone excludes, with its block (p2p.md 10.5). Returns a function that ends this. */
const dropOldVersions = (
  network: Network,
  chain: Chain,
  peerTable: PeerTable,
  drop: (ip: string) => void,
): (() => void) =>
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
