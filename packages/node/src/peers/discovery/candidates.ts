/** Whether an address becomes a peer (p2p.md 10.3). */
import { networkInterfaces } from "node:os";
import type { Logger } from "pino";
import { siteGroup } from "../../platform/addresses/groups.ts";
import { addressGroupsOf, normalizeAddress, peerAddress } from "../addresses.ts";
import { createRefusals } from "../guards/refusals.ts";
import { createSuspensions } from "../guards/suspensions.ts";
import { createWindowCounter } from "../guards/window.ts";
import type { PeerTable } from "../table/peer-table.ts";
import type { PeerClient } from "../transport/client.ts";
import { PeerError } from "../transport/error.ts";
import { NOT_READY } from "../wire/replies/write.ts";
import type { Ping } from "./ping.ts";

export type CandidateOptions = {
  /** Nobody becomes a peer, not even a seed. */
  readonly isDisabled: boolean;
  /** Of a /24 of IPv4 or a /64 of IPv6; twice as many of a /48. */
  readonly maxPeersPerSubnet: number;
  /** Take loopback addresses, except this one, which is the node's own. */
  readonly loopback: { readonly own: string } | undefined;
};

export type CandidateDeps = {
  readonly peerTable: PeerTable;
  readonly ping: Ping;
  readonly isBanned: (ip: string) => boolean;
  readonly disconnect: PeerClient["disconnect"];
  readonly logger: Logger;
};

export type Candidates = {
  /**
   * Dials an address, in whatever form, and makes it a peer if it passes; seeds are free of the limit per subnet.
   * Answers whether it is a peer afterwards.
   */
  submit(address: string, options?: { isSeed: boolean }): Promise<boolean>;
  /** A peer did not give what it claims to have: it is none for a while, longer each time. */
  suspend(ip: string): void;
  /** A peer gave what it claimed. */
  reinstate(ip: string): void;
};

/**
 * An address that failed is not dialled again for so long, unless it is a seed. Two nodes that refuse each other would
 * otherwise take each call for a reason to call back.
 */
const FAILED_MS = 10_000;
/** The same for one that answered that it is not ready yet. */
const NOT_READY_MS = 1_000;
/** For how long a peer is left out that did not give what it claims to have, the first time and at most. */
const SUSPENSION = { firstMs: 15_000, maxMs: 3_600_000 };
/** Addresses dialled at a time; more of them wait for nobody and are left out. */
const MAX_PENDING = 64;
/** Callers of one site (an address of IPv4, a /48 of IPv6) that are dialled in so long. */
const DIALS_PER_SITE = { events: 20, windowMs: FAILED_MS };
/** Peers altogether, without seeds: each of them is asked whenever the node looks for blocks. */
const MAX_PEERS = 500;

export function createCandidates(options: CandidateOptions, deps: CandidateDeps): Candidates {
  const { peerTable } = deps;
  const pending = new Map<string, Promise<boolean>>();
  const failed = createRefusals({ durationMs: FAILED_MS });
  const notReady = createRefusals({ durationMs: NOT_READY_MS });
  const suspensions = createSuspensions(SUSPENSION);
  const dials = createWindowCounter(DIALS_PER_SITE);

  function usable(address: string): string | undefined {
    const { loopback } = options;
    const ip = peerAddress(
      address,
      loopback ? new Set([loopback.own]) : interfaces(),
      loopback !== undefined,
    );
    return ip === undefined || deps.isBanned(ip) ? undefined : ip;
  }

  /** Whether there are as many peers as there may be, altogether or in the neighbourhood of an address. */
  function isFull(ip: string): boolean {
    // A candidate that has just become a peer is in both.
    const peers = new Set([...peerTable.all().map((peer) => peer.ip), ...pending.keys()]);
    const around = (address: string) => addressGroupsOf(address, options.maxPeersPerSubnet);
    const keys = [...peers].flatMap((peer) => around(peer).map(({ key }) => key));
    return (
      peers.size >= MAX_PEERS ||
      around(ip).some(({ key, max }) => keys.filter((other) => other === key).length >= max)
    );
  }

  /** Whether a stranger is worth a call now. */
  function isWelcome(ip: string): boolean {
    const at = performance.now();
    if (!dials.take(siteGroup(ip), at)) return false;
    if (!isFull(ip)) return true;
    // Looking at all peers again with each of its calls would cost more than it is worth.
    failed.add(ip, at);
    return false;
  }

  async function dial(ip: string): Promise<boolean> {
    try {
      await deps.ping(ip, { isForced: true });
      return true;
    } catch (error) {
      deps.logger.debug({ ip, reason: (error as Error).message }, "candidate refused");
      deps.disconnect(ip);
      (isNotReady(error) ? notReady : failed).add(ip, performance.now());
      return false;
    }
  }

  return {
    async submit(address, { isSeed } = { isSeed: false }) {
      // First what costs least, since every call of others leads here.
      const plain = normalizeAddress(address);
      if (peerTable.get(plain)) return true;
      const at = performance.now();
      const isLeftOut = failed.has(plain, at) || notReady.has(plain, at) || suspensions.has(plain, at);
      if (!isSeed && isLeftOut) return false;
      const ip = usable(address);
      if (ip === undefined || options.isDisabled) return false;
      const dialling = pending.get(ip);
      if (dialling) return dialling;
      if (pending.size >= MAX_PENDING) return false;
      if (!isSeed && !isWelcome(ip)) return false;
      const dialled = dial(ip).finally(() => pending.delete(ip));
      pending.set(ip, dialled);
      return dialled;
    },
    suspend(ip) {
      suspensions.add(ip, performance.now());
      deps.disconnect(ip);
      peerTable.remove(ip);
    },
    reinstate: suspensions.clear,
  };
}

const isNotReady = (error: unknown): boolean =>
  error instanceof PeerError && error.code === "PEER_REFUSED" && error.message === NOT_READY;

const interfaces = (): Set<string> =>
  new Set(Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []));
