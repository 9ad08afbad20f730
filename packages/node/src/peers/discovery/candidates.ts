/** Decides if an address becomes a peer (p2p.md 10.3): requests its status and verifies it (p2p.md 10.4). */
import { networkInterfaces } from "node:os";
import type { Logger } from "pino";
import { siteGroup } from "../../platform/addresses.ts";
import { Lru } from "../../platform/bounded-entries.ts";
import { type AddressGroup, addressGroupsOf, normalizeAddress, peerAddress } from "../addresses.ts";
import { WindowCounter } from "../guards/rate-limits.ts";
import { Exclusions, Refusals } from "../guards/refusals.ts";
import type { PeerTable } from "../peer-table.ts";
import { PeerError } from "../transport/calls.ts";
import type { PeerClient } from "../transport/client.ts";
import { type RequestPeer, unverified, type VerifyDeps, verifyChain } from "../verify-chain.ts";
import { allowedVersions, isVersionAllowed } from "../versions.ts";
import { CLIENT_MESSAGE_BYTES, TIMES_MS } from "../wire/limits.ts";
import { NOT_READY } from "../wire/server-messages.ts";

export type CandidateOptions = {
  /** No address becomes a peer, not even a seed. */
  readonly isDisabled: boolean;
  /** Peers in a /24 of IPv4 or a /64 of IPv6; a /48 may have twice as many. */
  readonly maxPeersPerSubnet: number;
  /** Accept loopback addresses, except the node's own. Undefined: none are accepted. */
  readonly loopback: { readonly own: string } | undefined;
};

export type CandidateDeps = {
  readonly peerTable: PeerTable;
  readonly ping: Ping;
  readonly isBanned: (ip: string) => boolean;
  readonly disconnect: PeerClient["disconnect"];
  readonly logger: Logger;
};

export type DialOptions = {
  readonly isSeed?: boolean;
  /** It was a peer before. */
  readonly isLost?: boolean;
  /** A connection to the address has just opened: earlier failures do not count. */
  readonly isConnected?: boolean;
};

/**
 * Time before an address that failed is dialled again, unless it is a seed. Without it, two nodes that refuse each
 * other would dial back forever.
 */
const FAILED_MS = 10_000;
/** Time before an address that replied that it is not ready is dialled again. */
const NOT_READY_MS = 1_000;
/** Exclusion of a peer that did not send the blocks that it claims: the first time, and at most. */
const EXCLUSION = { firstMs: 15_000, maxMs: 3_600_000 };
/** Addresses of each kind that are dialled at a time; further ones are ignored. */
const MAX_PENDING = 64;
/** Dials per site (an address of IPv4, a /48 of IPv6) in a window. */
const DIALS_PER_SITE = { events: 20, windowMs: FAILED_MS };
/** Maximum number of peers without seeds: each is pinged in every synchronisation. */
const MAX_PEERS = 500;

/** Addresses whose groups are remembered; more than there are peers. */
const MAX_KNOWN_GROUPS = 2_000;

export class Candidates {
  readonly #options: CandidateOptions;
  readonly #deps: CandidateDeps;
  /** Dials in progress, by address. */
  readonly #pending = new Map<string, Promise<boolean>>();
  /** Number of dials in progress by kind: callers may stall, and must not keep the node from the peers that it knows. */
  readonly #dialling = { seeds: 0, lost: 0, others: 0 };
  readonly #failed = new Refusals({ durationMs: FAILED_MS });
  readonly #notReady = new Refusals({ durationMs: NOT_READY_MS });
  readonly #exclusions = new Exclusions(EXCLUSION);
  readonly #dials = new WindowCounter(DIALS_PER_SITE);
  readonly #knownGroups = new Lru<string, readonly AddressGroup[]>(MAX_KNOWN_GROUPS);

  constructor(options: CandidateOptions, deps: CandidateDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  /**
   * Dials an address, in any form, and adds it to the peers if it passes the verification; seeds are exempt from the
   * limit per subnet. Settles with whether it is a peer afterwards.
   */
  async dial(address: string, options: DialOptions = {}): Promise<boolean> {
    const { isSeed = false, isLost = false, isConnected = false } = options;
    const { peerTable } = this.#deps;
    const pending = this.#pending;
    // The cheapest checks first, since every incoming call comes here.
    const plain = normalizeAddress(address);
    if (peerTable.get(plain)) return true;
    const at = performance.now();
    const hasFailed = !isConnected && this.#failed.has(plain, at);
    const isExcluded = hasFailed || this.#notReady.has(plain, at) || this.#exclusions.has(plain, at);
    if (!isSeed && isExcluded) return false;
    const dialling = pending.get(plain);
    if (dialling) return dialling;
    const kind = isSeed ? "seeds" : isLost ? "lost" : "others";
    if (this.#dialling[kind] >= MAX_PENDING || this.#options.isDisabled) return false;
    const ip = this.#toUsableAddress(address);
    if (ip === undefined) return false;
    if (!isSeed && !this.#mayDial(ip)) return false;
    this.#dialling[kind]++;
    const dialled = this.#connect(ip).finally(() => {
      pending.delete(ip);
      this.#dialling[kind]--;
    });
    pending.set(ip, dialled);
    return dialled;
  }

  /** Drops a peer that did not send the blocks that it claims; it is excluded for a while, longer each time. */
  suspend(ip: string): void {
    this.#exclusions.add(ip, performance.now());
    this.#deps.disconnect(ip);
    this.#deps.peerTable.remove(ip);
  }

  /** Returns true if an address was suspended after a time: milliseconds of the monotonic clock. */
  isSuspendedSince(ip: string, at: number): boolean {
    return this.#exclusions.hasSince(ip, at);
  }

  /** Ends the exclusion of a peer that sent the blocks that it claims. */
  reinstate(ip: string): void {
    this.#exclusions.clear(ip);
  }

  #toUsableAddress(address: string): string | undefined {
    const { loopback } = this.#options;
    const { isBanned } = this.#deps;
    const own = loopback ? new Set([loopback.own]) : ownAddresses();
    const ip = peerAddress(address, own, loopback !== undefined);
    return ip === undefined || isBanned(ip) ? undefined : ip;
  }

  /** Returns true if an address that is not a peer may be dialled now. */
  #mayDial(ip: string): boolean {
    const at = performance.now();
    if (!this.#dials.take(siteGroup(ip), at)) return false;
    if (!this.#isFull(ip)) return true;
    // Saves the search through all peers for every further call of the address.
    this.#failed.add(ip, at);
    return false;
  }

  /** Returns true if the maximum of peers is reached, in total or in a group of the address. */
  #isFull(ip: string): boolean {
    // A set, since a candidate that has just become a peer is in both.
    const peers = new Set([...this.#deps.peerTable.all().map((peer) => peer.ip), ...this.#pending.keys()]);
    if (peers.size >= MAX_PEERS) return true;
    const groups = Array.from(peers, (peer) => this.#groupsOf(peer));
    const countOf = (key: string) => groups.filter((some) => some.some((group) => group.key === key)).length;
    return this.#groupsOf(ip).some(({ key, max }) => countOf(key) >= max);
  }

  /** Returns the groups of an address, cached: every candidate is compared with all peers. */
  #groupsOf(address: string): readonly AddressGroup[] {
    const { maxPeersPerSubnet } = this.#options;
    return this.#knownGroups.get(address, () => addressGroupsOf(address, maxPeersPerSubnet));
  }

  async #connect(ip: string): Promise<boolean> {
    const { ping, logger, disconnect } = this.#deps;
    try {
      await ping(ip, { isForced: true });
      return true;
    } catch (error) {
      logger.debug({ ip, reason: (error as Error).message }, "address refused as a peer");
      disconnect(ip);
      (isNotReady(error) ? this.#notReady : this.#failed).add(ip, performance.now());
      return false;
    }
  }
}

const isNotReady = (error: unknown): boolean =>
  error instanceof PeerError && error.code === "PEER_REFUSED" && error.message === NOT_READY;

/** Returns the addresses of this machine; none in a sandbox without netlink sockets: then the id of the process shows that a peer is this node. */
function ownAddresses(): Set<string> {
  try {
    return new Set(
      Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []),
    );
  } catch {
    return new Set();
  }
}

type PingDeps = VerifyDeps & {
  readonly peerTable: PeerTable;
  /** Returns true if an address must not be a peer, or was suspended after a time. */
  readonly isRefused: (ip: string, since: number) => boolean;
  readonly request: PeerClient["request"];
  /** Random text that identifies this process. */
  readonly processId: string;
};

type PingOptions = {
  /** Pings even if the last verification is recent. */
  readonly isForced: boolean;
};

/** Requests the status, verifies it, and puts the peer into the peer table. */
export type Ping = (ip: string, options: PingOptions) => Promise<void>;

/** A verification is recent within this time. */
const FRESH_MS = 120_000;

/** @throws {CodedError} PEER_UNVERIFIED, or a `PeerError`, from the function that it returns */
export function createPing(deps: PingDeps): Ping {
  const { peerTable, network } = deps;
  /** Pings under way, by address: at most one for each. */
  const running = new Map<string, Promise<void>>();

  async function ping(ip: string): Promise<void> {
    const request: RequestPeer = (event, argument, limits) => deps.request(ip, event, argument, limits);
    const limits = { timeoutMs: TIMES_MS.smallReply, maxBytes: CLIENT_MESSAGE_BYTES.other };
    const wasPeer = peerTable.get(ip) !== undefined;
    const startedAt = performance.now();
    let sentAt = 0;
    const status = await deps.request(ip, "p2p.peer.getStatus", {}, limits, () => {
      sentAt = performance.now();
    });
    const latencyMs = performance.now() - sentAt;
    const { version, network: peerNetwork } = status.config;
    // A node may not know all its own addresses, such as that of its router.
    if (status.processId === deps.processId) throw unverified("it is this node itself");
    if (peerNetwork.nethash !== network.description.nethash) {
      throw unverified(`it is a node of another network (${peerNetwork.name})`);
    }
    const ranges = allowedVersions(network, deps.head().height);
    if (!isVersionAllowed(version, ranges, network.description.name)) {
      throw unverified(`its version ${version} is not in ${ranges.join(", ")}`);
    }
    const verification = await withDeadline(verifyChain(status, request, deps), TIMES_MS.verification);
    // Its last reply may have arrived before it was banned or suspended.
    if (deps.isRefused(ip, startedAt)) throw unverified("it was refused in the meantime");
    const known = peerTable.get(ip);
    if (wasPeer && !known) throw unverified("it was dropped in the meantime");
    const { height } = status.state;
    const ports = known?.ports ?? {};
    peerTable.put({ ip, status, height, latencyMs, verification, verifiedAt: performance.now(), ports });
  }

  return (ip, { isForced }) => {
    const known = peerTable.get(ip);
    if (known && !isForced && performance.now() - known.verifiedAt < FRESH_MS) return Promise.resolve();
    const pinging = running.get(ip) ?? ping(ip).finally(() => running.delete(ip));
    running.set(ip, pinging);
    return pinging;
  };
}

async function withDeadline<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unverified("its verification takes too long")), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
