/** Addresses that are refused for a time: bans, exclusions that last longer each time, and refusals. */

import type { Logger } from "pino";
import { clientGroup } from "../../platform/addresses/groups.ts";
import { setNewest } from "../../platform/bounded-entries.ts";
import type { PeerStore } from "../../store/node/peers.ts";
import { normalizeAddress } from "../addresses.ts";

/** Times are milliseconds of one monotonic clock. */
export type Refusals = {
  add(address: string, at: number): void;
  has(address: string, at: number): boolean;
};

/**
 * Maximum number of refused addresses. The oldest refusal ends early, so that a client with many addresses
 * cannot fill the memory.
 */
const MAX_ADDRESSES = 10_000;

/** Refuses addresses for a fixed time. */
export function createRefusals({ durationMs }: { readonly durationMs: number }): Refusals {
  /** Beginning of the refusal by address, the earliest first. */
  const since = new Map<string, number>();

  return {
    add: (address, at) => setNewest(since, address, at, MAX_ADDRESSES),
    has(address, at) {
      for (const [refused, began] of since) {
        if (at - began < durationMs) break;
        since.delete(refused);
      }
      return since.has(address);
    },
  };
}

/** Times are milliseconds of one monotonic clock. */
export type Exclusions = {
  add(address: string, at: number): void;
  /** Returns true if an address is excluded at a time. */
  has(address: string, at: number): boolean;
  /** Removes all exclusions of an address, because it sent the blocks that it claimed. */
  clear(address: string): void;
};

type Exclusion = { readonly untilMs: number; readonly durationMs: number };

/** Maximum number of exclusions; the oldest are forgotten. */
const MAX_CLIENTS = 10_000;

/**
 * Excludes peers that claimed blocks and did not send them. A claim stops a forger from forging, so it must not be repeated
 * forever: each exclusion lasts twice as long as the previous one.
 */
export function createExclusions({
  firstMs,
  maxMs,
}: {
  readonly firstMs: number;
  readonly maxMs: number;
}): Exclusions {
  /** Exclusions by client, the oldest first. */
  const exclusions = new Map<string, Exclusion>();

  return {
    add(address, at) {
      const client = clientGroup(address);
      const before = exclusions.get(client)?.durationMs ?? firstMs / 2;
      const durationMs = Math.min(maxMs, before * 2);
      setNewest(exclusions, client, { untilMs: at + durationMs, durationMs }, MAX_CLIENTS);
    },
    has: (address, at) => (exclusions.get(clientGroup(address))?.untilMs ?? at) > at,
    clear: (address) => void exclusions.delete(clientGroup(address)),
  };
}

type BanDeps = {
  readonly store: Pick<PeerStore, "bans" | "ban">;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Ends all connections with the address. */
  readonly onBan: (ip: string) => void;
  readonly logger: Logger;
};

export type Bans = {
  /**
   * Both take the address in any form. With an address of IPv6, its /64 is banned.
   *
   * @param reason for the log
   */
  ban(address: string, reason: string): void;
  isBanned(address: string): boolean;
  /** Bans that have not expired. */
  count(): number;
};

/** Duration of a ban: long enough to make false data expensive, short enough for an operator who repairs a node. */
const BAN_MS = 60 * 60_000;
/**
 * Maximum number of bans. The oldest end early if there are more, so that an attacker with many addresses
 * cannot fill the memory.
 */
const MAX_BANS = 10_000;

/** Bans addresses whose peers broke the protocol on purpose. Bans expire, and survive restarts. */
export function createBans({ store, nowMs, onBan, logger }: BanDeps): Bans {
  /** End of each ban by client, the earliest first. */
  const until = new Map(store.bans(nowMs()).map(({ ip, untilMs }) => [clientGroup(ip), untilMs]));

  return {
    ban(address, reason) {
      const ip = normalizeAddress(address);
      const untilMs = nowMs() + BAN_MS;
      setNewest(until, clientGroup(ip), untilMs, MAX_BANS);
      store.ban({ ip, untilMs, reason });
      logger.warn({ ip, reason, minutes: BAN_MS / 60_000 }, "peer banned");
      onBan(ip);
    },
    isBanned: (address) => (until.get(clientGroup(address)) ?? 0) > nowMs(),
    count: () => [...until.values()].filter((untilMs) => untilMs > nowMs()).length,
  };
}
