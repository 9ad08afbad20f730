/** Addresses that are not talked to for a while, since they did what no mistake explains. Kept over restarts. */
import type { Logger } from "pino";
import type { PeerStore } from "../../store/peers.ts";
import { plainAddress } from "../addresses.ts";

export type BanDeps = {
  readonly store: Pick<PeerStore, "bans" | "ban">;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Ends what there is with the address. */
  readonly onBan: (ip: string) => void;
  readonly logger: Logger;
};

export type Bans = {
  /**
   * Both take the address in any form.
   *
   * @param reason for the log
   */
  ban(address: string, reason: string): void;
  isBanned(address: string): boolean;
};

/** Long enough to make lying expensive, short enough for an operator who repairs a node. */
const BAN_MS = 60 * 60_000;
/** More of them would be the doing of one who has many addresses. */
const MAX_BANS = 10_000;

export function createBans({ store, nowMs, onBan, logger }: BanDeps): Bans {
  const untilByIp = new Map(store.bans(nowMs()).map(({ ip, untilMs }) => [ip, untilMs]));

  return {
    ban(address, reason) {
      const ip = plainAddress(address);
      if (untilByIp.size >= MAX_BANS) untilByIp.clear();
      const untilMs = nowMs() + BAN_MS;
      untilByIp.set(ip, untilMs);
      store.ban({ ip, untilMs, reason });
      logger.warn({ ip, reason, minutes: BAN_MS / 60_000 }, "peer banned");
      onBan(ip);
    },
    isBanned: (address) => (untilByIp.get(plainAddress(address)) ?? 0) > nowMs(),
  };
}
