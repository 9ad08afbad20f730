/** Figures of the whole chain, computed once for each head. */
import type { Database } from "../../store/engine/database.ts";
import { type Head, perHead } from "../head.ts";

export type ChainQueries = {
  /** Coins in circulation (state.md 4.2): the sum of all balances and the premine. Without open locks. */
  supply(head: Head): bigint;
  /** Amount inside open hash-time locks. */
  lockedSupply(head: Head): bigint;
};

export function createChainQueries(database: Database): ChainQueries {
  const balances = database.prepare<{ sum: bigint | null }>("SELECT SUM(balance) AS sum FROM wallets", {
    bigints: true,
  });
  const premine = database.prepare<{ amount: bigint }>(
    "SELECT total_amount AS amount FROM blocks WHERE height = 1",
    { bigints: true },
  );
  const locked = database.prepare<{ sum: bigint | null }>(
    `SELECT SUM(CAST(attributes ->> '$.htlc.lockedBalance' AS INTEGER)) AS sum FROM wallets
     WHERE address IN (SELECT value FROM entries WHERE space = 'locks')`,
    { bigints: true },
  );
  return {
    // The genesis wallet is negative by the premine.
    supply: perHead(() => (balances.get()?.sum ?? 0n) + (premine.get()?.amount ?? 0n)),
    lockedSupply: perHead(() => locked.get()?.sum ?? 0n),
  };
}
