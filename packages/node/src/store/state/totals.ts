/**
 * Totals of the state: `wallets` and `tokens`, the sums `balances` and `locked` (open hash-time locks), and `type N` for the
 * tokens whose property `type` is N.
 */
import type { TableName, Wallet } from "@uniknode/ledger";
import type { Database } from "../engine/database.ts";

/** Returns the record before a write. */
type Before = () => unknown;

export type StateTotals = {
  /** Counts a write. `after` is undefined if the record is removed. */
  count(table: TableName, key: string, before: Before, after: unknown): void;
  /** Writes the counted changes. Must be called in the transaction that writes the records. */
  flush(): void;
  /** Discards the counted changes. */
  reset(): void;
};

/** End of the key of the property `type`. */
const TYPE = "/type";
/** Beginning of the names of totals by type. */
const OF_TYPE = "type ";

export function createStateTotals(database: Database): StateTotals {
  const add = database.prepare(
    "INSERT INTO state_totals VALUES (?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value",
  );
  // A revert must leave the same rows as before the block.
  const removeNone = database.prepare("DELETE FROM state_totals WHERE name = ? AND value = 0");
  const changes = new Map<string, bigint>();
  const change = (name: string, by: bigint) => void changes.set(name, (changes.get(name) ?? 0n) + by);
  const isThere = (record: unknown) => (record === undefined ? 0n : 1n);
  return {
    count(table, key, before, after) {
      if (table === "wallets") {
        const [one, other] = [before() as Wallet | undefined, after as Wallet | undefined];
        change("wallets", isThere(other) - isThere(one));
        change("balances", (other?.balance ?? 0n) - (one?.balance ?? 0n));
        change("locked", lockedOf(other) - lockedOf(one));
      } else if (table === "tokens") {
        change("tokens", isThere(after) - isThere(before()));
      } else if (
        table === "properties" &&
        key.endsWith(TYPE) &&
        key.indexOf("/") === key.length - TYPE.length
      ) {
        const type = before();
        if (type !== undefined) change(`${OF_TYPE}${type}`, -1n);
        if (after !== undefined) change(`${OF_TYPE}${after}`, 1n);
      }
    },
    flush() {
      for (const [name, by] of changes) {
        if (by === 0n) continue;
        add.run(name, by);
        removeNone.run(name);
      }
      changes.clear();
    },
    reset: () => changes.clear(),
  };
}

/** Counts the whole state, after its rows were written without its store. */
export const countState = (database: Database): void =>
  database.transaction(() =>
    database.execute(
      `DELETE FROM state_totals;
       INSERT INTO state_totals SELECT * FROM (
         SELECT 'wallets' AS name, count(*) AS value FROM wallets
         UNION ALL SELECT 'balances', coalesce(sum(balance), 0) FROM wallets
         UNION ALL SELECT 'locked', coalesce(sum(CAST(attributes ->> '$.htlc.lockedBalance' AS INTEGER)), 0) FROM wallets
           WHERE attributes LIKE '%"lockedBalance"%'
         UNION ALL SELECT 'tokens', count(*) FROM tokens
         UNION ALL SELECT '${OF_TYPE}' || value, count(*) FROM properties WHERE key = 'type' GROUP BY value
       ) WHERE value <> 0`,
    ),
  );

const lockedOf = (wallet: Wallet | undefined): bigint => wallet?.attributes.htlc?.lockedBalance ?? 0n;

export type ReadTotals = {
  /** Returns a number or a sum; 0 for an empty state. */
  of(name: "wallets" | "balances" | "locked" | "tokens"): bigint;
  /** Returns the number of tokens by the value of their property `type`. */
  tokensByType(): ReadonlyMap<string, number>;
};

export function createReadTotals(database: Database): ReadTotals {
  const one = database.prepare<{ value: bigint }>("SELECT value FROM state_totals WHERE name = ?", {
    bigints: true,
  });
  const types = database.prepare<{ name: string; value: number }>(
    "SELECT name, value FROM state_totals WHERE name >= 'type ' AND name < 'type!'",
  );
  return {
    of: (name) => one.get(name)?.value ?? 0n,
    tokensByType: () => new Map(types.all().map(({ name, value }) => [name.slice(OF_TYPE.length), value])),
  };
}
