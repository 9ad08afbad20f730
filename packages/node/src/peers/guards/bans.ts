/** Bans of addresses whose peers broke the protocol on purpose. They expire, and survive restarts. */
import type { Logger } from "pino";
import { clientGroup } from "../../platform/addresses/groups.ts";
import { setNewest } from "../../platform/bounded-entries.ts";
import type { PeerStore } from "../../store/node/peers.ts";
import { normalizeAddress } from "../addresses.ts";

export type BanDeps = {
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
