/** Peers and bans on disk. */
import type { Database } from "../engine/database.ts";

export type Ban = { readonly ip: string; readonly untilMs: number; readonly reason: string };

/** Maximum number of stored addresses: more than the nodes of a network. */
const MAX_KNOWN = 1_000;
/** Maximum number of stored bans; the latest are kept. */
const MAX_BANS = 10_000;

/** Times are milliseconds since 1970. */
export class PeerStore {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareStatements>;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareStatements(database);
  }

  /** Returns the most recently seen addresses, newest first. */
  known(limit: number): string[] {
    return this.#statements.select.all(limit).map(({ ip }) => ip);
  }

  saw(ips: readonly string[], atMs: number): void {
    const { upsert, prune } = this.#statements;
    this.#database.transaction(() => {
      for (const ip of ips) upsert.run(ip, atMs);
      prune.run(MAX_KNOWN);
    }, "process death");
  }

  forget(ip: string): void {
    this.#statements.remove.run(ip);
  }

  bans(nowMs: number): Ban[] {
    this.#statements.pruneBans.run(nowMs);
    return this.#statements.selectBans.all(nowMs);
  }

  ban({ ip, untilMs, reason }: Ban): void {
    this.#statements.upsertBan.run(ip, untilMs, reason);
    this.#statements.pruneOldBans.run(MAX_BANS);
  }
}

const prepareStatements = (database: Database) => ({
  select: database.prepare<{ ip: string }>("SELECT ip FROM peers ORDER BY seen_ms DESC, ip LIMIT +?"),
  upsert: database.prepare(
    "INSERT INTO peers VALUES (?, ?) ON CONFLICT (ip) DO UPDATE SET seen_ms = excluded.seen_ms",
  ),
  prune: database.prepare(
    "DELETE FROM peers WHERE ip NOT IN (SELECT ip FROM peers ORDER BY seen_ms DESC, ip LIMIT +?)",
  ),
  remove: database.prepare("DELETE FROM peers WHERE ip = ?"),
  selectBans: database.prepare<Ban>(
    "SELECT ip, until_ms AS untilMs, reason FROM bans WHERE until_ms > ? ORDER BY until_ms",
  ),
  pruneBans: database.prepare("DELETE FROM bans WHERE until_ms <= ?"),
  pruneOldBans: database.prepare(
    "DELETE FROM bans WHERE ip IN (SELECT ip FROM bans ORDER BY until_ms DESC LIMIT -1 OFFSET +?)",
  ),
  upsertBan: database.prepare("INSERT OR REPLACE INTO bans VALUES (?, ?, ?)"),
});
