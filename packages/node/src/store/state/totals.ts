/**
 * Totals of the state: `wallets` and `tokens`, the sums `balances` and `locked` (open hash-time locks), and `type N` for the
 * tokens whose property `type` is N.
 */
import type { TableName, Wallet } from "@uniknode/ledger";
import type { Database, Statement } from "../engine/database.ts";

/** Returns the record before a write. */
type Before = () => unknown;

/** End of the key of the property `type`. */
const TYPE = "/type";
/** Beginning of the names of totals by type. */
const OF_TYPE = "type ";

export class StateTotals {
  readonly #add: Statement<unknown>;
  readonly #removeNone: Statement<unknown>;
  readonly #changes = new Map<string, bigint>();

  constructor(database: Database) {
    this.#add = database.prepare(
      "INSERT INTO state_totals VALUES (?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value",
    );
    // A revert must leave the same rows as before the block.
    this.#removeNone = database.prepare("DELETE FROM state_totals WHERE name = ? AND value = 0");
  }

  /** Counts a write. `after` is undefined if the record is removed. */
  count(table: TableName, key: string, before: Before, after: unknown): void {
    if (table === "wallets") {
      const [one, other] = [before() as Wallet | undefined, after as Wallet | undefined];
      this.#change("wallets", isThere(other) - isThere(one));
      this.#change("balances", (other?.balance ?? 0n) - (one?.balance ?? 0n));
      this.#change("locked", lockedOf(other) - lockedOf(one));
    } else if (table === "tokens") {
      this.#change("tokens", isThere(after) - isThere(before()));
    } else if (
      table === "properties" &&
      key.endsWith(TYPE) &&
      key.indexOf("/") === key.length - TYPE.length
    ) {
      const type = before();
      if (type !== undefined) this.#change(`${OF_TYPE}${type}`, -1n);
      if (after !== undefined) this.#change(`${OF_TYPE}${after}`, 1n);
    }
  }

  /** Writes the counted changes. Must be called in the transaction that writes the records. */
  flush(): void {
    for (const [name, by] of this.#changes) {
      if (by === 0n) continue;
      this.#add.run(name, by);
      this.#removeNone.run(name);
    }
    this.#changes.clear();
  }

  /** Discards the counted changes. */
  reset(): void {
    this.#changes.clear();
  }

  #change(name: string, by: bigint): void {
    this.#changes.set(name, (this.#changes.get(name) ?? 0n) + by);
  }
}

const isThere = (record: unknown): bigint => (record === undefined ? 0n : 1n);

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

export class ReadTotals {
  readonly #one: Statement<{ value: bigint }>;
  readonly #types: Statement<{ name: string; value: number }>;

  constructor(database: Database) {
    this.#one = database.prepare("SELECT value FROM state_totals WHERE name = ?", { bigints: true });
    this.#types = database.prepare(
      "SELECT name, value FROM state_totals WHERE name IN ('type 1', 'type 2', 'type 3')",
    );
  }

  /** Returns a number or a sum; 0 for an empty state. */
  of(name: "wallets" | "balances" | "locked" | "tokens"): bigint {
    return this.#one.get(name)?.value ?? 0n;
  }

  /** Returns the number of tokens of each type of a unik. Only tokens of other names have others: as many as were minted. */
  tokensByType(): ReadonlyMap<string, number> {
    return new Map(this.#types.all().map(({ name, value }) => [name.slice(OF_TYPE.length), value]));
  }
}
