/** Addresses that are refused for a time: bans, exclusions that last longer each time, and refusals. */
import type { Logger } from "pino";
import { clientGroup } from "../../platform/addresses.ts";
import { setNewest } from "../../platform/bounded-entries.ts";
import type { PeerStore } from "../../store/node/peers.ts";
import { normalizeAddress } from "../addresses.ts";

/**
 * Maximum number of refused addresses. The oldest refusal ends early, so that a client with many addresses
 * cannot fill the memory.
 */
const MAX_ADDRESSES = 10_000;

/** Refuses addresses for a fixed time. Times are milliseconds of one monotonic clock. */
export class Refusals {
  readonly #durationMs: number;
  /** Beginning of the refusal by address, the earliest first. */
  readonly #since = new Map<string, number>();

  constructor({ durationMs }: { readonly durationMs: number }) {
    this.#durationMs = durationMs;
  }

  add(address: string, at: number): void {
    setNewest(this.#since, address, at, MAX_ADDRESSES);
  }

  has(address: string, at: number): boolean {
    for (const [refused, began] of this.#since) {
      if (at - began < this.#durationMs) break;
      this.#since.delete(refused);
    }
    return this.#since.has(address);
  }
}

type Exclusion = { readonly untilMs: number; readonly durationMs: number };

/** Maximum number of exclusions; the oldest are forgotten. */
const MAX_CLIENTS = 10_000;

/**
 * Excludes peers that claimed blocks and did not send them. A claim stops a forger from forging, so it must not be repeated
 * forever: each exclusion lasts twice as long as the previous one. Times are milliseconds of one monotonic clock.
 */
export class Exclusions {
  readonly #firstMs: number;
  readonly #maxMs: number;
  /** Exclusions by client, the oldest first. */
  readonly #exclusions = new Map<string, Exclusion>();

  constructor({ firstMs, maxMs }: { readonly firstMs: number; readonly maxMs: number }) {
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
  }

  add(address: string, at: number): void {
    const client = clientGroup(address);
    const before = this.#exclusions.get(client)?.durationMs ?? this.#firstMs / 2;
    const durationMs = Math.min(this.#maxMs, before * 2);
    setNewest(this.#exclusions, client, { untilMs: at + durationMs, durationMs }, MAX_CLIENTS);
  }

  /** Returns true if an address is excluded at a time. */
  has(address: string, at: number): boolean {
    return (this.#exclusions.get(clientGroup(address))?.untilMs ?? at) > at;
  }

  /** Returns true if the last exclusion of an address began after a time. */
  hasSince(address: string, at: number): boolean {
    const { untilMs, durationMs } = this.#exclusions.get(clientGroup(address)) ?? {
      untilMs: at,
      durationMs: 0,
    };
    return untilMs - durationMs > at;
  }

  /** Removes all exclusions of an address, because it sent the blocks that it claimed. */
  clear(address: string): void {
    this.#exclusions.delete(clientGroup(address));
  }
}

type BanDeps = {
  readonly store: Pick<PeerStore, "bans" | "ban">;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Ends all connections with the address. */
  readonly onBan: (ip: string) => void;
  readonly logger: Logger;
};

/** Duration of a ban: long enough to make false data expensive, short enough for an operator who repairs a node. */
const BAN_MS = 60 * 60_000;
/**
 * Maximum number of bans. The oldest end early if there are more, so that an attacker with many addresses
 * cannot fill the memory.
 */
const MAX_BANS = 10_000;

/** Bans addresses whose peers broke the protocol on purpose. Bans expire, and survive restarts. */
export class Bans {
  readonly #deps: BanDeps;
  /** End of each ban by client, the earliest first. */
  readonly #until: Map<string, number>;

  constructor(deps: BanDeps) {
    this.#deps = deps;
    const stored = deps.store.bans(deps.nowMs());
    this.#until = new Map(stored.map(({ ip, untilMs }) => [clientGroup(ip), untilMs]));
  }

  /**
   * Both take the address in any form. With an address of IPv6, its /64 is banned.
   *
   * @param reason for the log
   */
  ban(address: string, reason: string): void {
    const { store, nowMs, onBan, logger } = this.#deps;
    const ip = normalizeAddress(address);
    const untilMs = nowMs() + BAN_MS;
    setNewest(this.#until, clientGroup(ip), untilMs, MAX_BANS);
    store.ban({ ip, untilMs, reason });
    logger.warn({ ip, reason, minutes: BAN_MS / 60_000 }, "peer banned");
    onBan(ip);
  }

  isBanned(address: string): boolean {
    return (this.#until.get(clientGroup(address)) ?? 0) > this.#deps.nowMs();
  }

  /** Bans that have not expired. */
  count(): number {
    const now = this.#deps.nowMs();
    return [...this.#until.values()].filter((untilMs) => untilMs > now).length;
  }
}
