/** Peers and bans on disk. */
import type { Database } from "../engine/database.ts";

export type Ban = { readonly ip: string; readonly untilMs: number; readonly reason: string };

/** Times are milliseconds since 1970. */
export type PeerStore = {
  /** Returns the most recently seen addresses, newest first. */
  known(limit: number): string[];
  saw(ips: readonly string[], atMs: number): void;
  forget(ip: string): void;
  bans(nowMs: number): Ban[];
  ban(ban: Ban): void;
};

/** Maximum number of stored addresses: more than the nodes of a network. */
const MAX_KNOWN = 1_000;
/** Maximum number of stored bans; the latest are kept. */
const MAX_BANS = 10_000;

export function createPeerStore(database: Database): PeerStore {
  const select = database.prepare<{ ip: string }>("SELECT ip FROM peers ORDER BY seen_ms DESC, ip LIMIT +?");
  const upsert = database.prepare(
    "INSERT INTO peers VALUES (?, ?) ON CONFLICT (ip) DO UPDATE SET seen_ms = excluded.seen_ms",
  );
  const prune = database.prepare(
    "DELETE FROM peers WHERE ip NOT IN (SELECT ip FROM peers ORDER BY seen_ms DESC, ip LIMIT +?)",
  );
  const remove = database.prepare("DELETE FROM peers WHERE ip = ?");
  const selectBans = database.prepare<Ban>(
    "SELECT ip, until_ms AS untilMs, reason FROM bans WHERE until_ms > ? ORDER BY until_ms",
  );
  const pruneBans = database.prepare("DELETE FROM bans WHERE until_ms <= ?");
  const pruneOldBans = database.prepare(
    "DELETE FROM bans WHERE ip IN (SELECT ip FROM bans ORDER BY until_ms DESC LIMIT -1 OFFSET +?)",
  );
  const upsertBan = database.prepare("INSERT OR REPLACE INTO bans VALUES (?, ?, ?)");
  return {
    known: (limit) => select.all(limit).map(({ ip }) => ip),
    saw(ips, atMs) {
      database.transaction(() => {
        for (const ip of ips) upsert.run(ip, atMs);
        prune.run(MAX_KNOWN);
      }, "process death");
    },
    forget: (ip) => void remove.run(ip),
    bans(nowMs) {
      pruneBans.run(nowMs);
      return selectBans.all(nowMs);
    },
    ban({ ip, untilMs, reason }) {
      upsertBan.run(ip, untilMs, reason);
      pruneOldBans.run(MAX_BANS);
    },
  };
}
