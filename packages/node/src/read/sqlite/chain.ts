/** Figures of the whole chain, computed once per head, and search by the prefix of an id. */
import type { Database } from "../../store/engine/database.ts";
import { type Head, perHead } from "../head.ts";
import type { Identified } from "../rows.ts";

export type ChainQueries = {
  /** Coins in circulation (state.md 4.2): the sum of all balances and the premine, without open locks. */
  supply(head: Head): bigint;
  /** Sum of the amounts of open hash-time locks. */
  lockedSupply(head: Head): bigint;
  /** Returns a few blocks, transactions, uniks and wallets whose id or address begins with `prefix`, by kind. */
  beginningWith(prefix: string): readonly Identified[];
};

/** Maximum number of results of each kind. */
const MAX_IDENTIFIED = 5;
/** Sorts after every character of ids and addresses. */
const LAST = "{";

/** The first column is the id. */
const IDENTIFIED = [
  { kind: "block", table: "blocks", columns: "id, height" },
  { kind: "transaction", table: "transactions", columns: "id" },
  { kind: "unik", table: "tokens", columns: "id" },
  { kind: "wallet", table: "wallets", columns: "address AS id" },
];

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
  const identified = IDENTIFIED.map(({ kind, table, columns }) =>
    database.prepare<Identified>(
      `SELECT '${kind}' AS kind, ${columns} FROM ${table} WHERE ${columns.split(/\W/)[0]} BETWEEN ? AND ?
       ORDER BY 2 LIMIT ${MAX_IDENTIFIED}`,
    ),
  );
  return {
    beginningWith: (prefix) => identified.flatMap((select) => select.all(prefix, prefix + LAST)),
    // The balance of the genesis wallet is negative: it paid the premine.
    supply: perHead(() => (balances.get()?.sum ?? 0n) + (premine.get()?.amount ?? 0n)),
    lockedSupply: perHead(() => locked.get()?.sum ?? 0n),
  };
}
