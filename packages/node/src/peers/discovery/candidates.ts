/** Whether an address becomes a peer (p2p.md 10.3). */
import { networkInterfaces } from "node:os";
import type { Logger } from "pino";
import { peerAddress, subnetOf } from "../addresses.ts";
import { createRefusals } from "../guards/refusals.ts";
import type { Register } from "../known/register.ts";
import type { Outgoing } from "../transport/outgoing.ts";
import type { Ping } from "./ping.ts";

export type CandidateOptions = {
  /** Nobody becomes a peer, not even a seed. */
  readonly takesNobody: boolean;
  readonly maxPeersPerSubnet: number;
  /** Take loopback addresses, except this one, which is the node's own. */
  readonly loopback: { readonly own: string } | undefined;
};

export type CandidateDeps = {
  readonly register: Register;
  readonly ping: Ping;
  readonly isBanned: (ip: string) => boolean;
  readonly disconnect: Outgoing["disconnect"];
  readonly logger: Logger;
};

export type Candidates = {
  /**
   * Dials an address, in whatever form, and makes it a peer if it passes; seeds are free of the limit per subnet.
   * Answers whether it is a peer afterwards.
   */
  submit(address: string, options?: { isSeed: boolean }): Promise<boolean>;
};

/**
 * An address that failed is not dialled again for so long, unless it is a seed. Two nodes that refuse each other would
 * otherwise take each call for a reason to call back.
 */
const FAILED_MS = 10_000;
/** Addresses dialled at a time; more of them wait for nobody and are left out. */
const MAX_PENDING = 64;

export function createCandidates(options: CandidateOptions, deps: CandidateDeps): Candidates {
  const { register } = deps;
  const pending = new Map<string, Promise<boolean>>();
  const failed = createRefusals({ durationMs: FAILED_MS });

  function usable(address: string): string | undefined {
    const { loopback } = options;
    const ip = peerAddress(
      address,
      loopback ? new Set([loopback.own]) : interfaces(),
      loopback !== undefined,
    );
    return ip === undefined || deps.isBanned(ip) ? undefined : ip;
  }

  function isSubnetFull(ip: string): boolean {
    const subnet = subnetOf(ip);
    // A candidate that has just become a peer is in both.
    const peers = new Set([...register.all().map((peer) => peer.ip), ...pending.keys()]);
    return [...peers].filter((other) => subnetOf(other) === subnet).length >= options.maxPeersPerSubnet;
  }

  async function dial(ip: string): Promise<boolean> {
    try {
      await deps.ping(ip, { isForced: true });
      return true;
    } catch (error) {
      deps.logger.debug({ ip, reason: (error as Error).message }, "candidate refused");
      deps.disconnect(ip);
      failed.add(ip, performance.now());
      return false;
    }
  }

  return {
    async submit(address, { isSeed } = { isSeed: false }) {
      const ip = usable(address);
      if (ip === undefined || options.takesNobody) return false;
      if (register.get(ip)) return true;
      const dialling = pending.get(ip);
      if (dialling) return dialling;
      if (pending.size >= MAX_PENDING) return false;
      if (!isSeed && (failed.has(ip, performance.now()) || isSubnetFull(ip))) return false;
      const dialled = dial(ip).finally(() => pending.delete(ip));
      pending.set(ip, dialled);
      return dialled;
    },
  };
}

const interfaces = (): Set<string> =>
  new Set(Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []));
