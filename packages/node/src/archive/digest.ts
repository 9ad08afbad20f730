/** A digest of the whole state, to compare nodes. */
import { createHash } from "node:crypto";
import type { Database, SqlValue } from "../store/engine/database.ts";
import { createShownAttributes } from "../store/state/holdings.ts";

/** The consensus state, each table in the order of its key. */
const STATE = [
  "SELECT address, public_key, balance, nonce, attributes FROM wallets ORDER BY address",
  "SELECT id, owner, first_transaction, last_transaction FROM tokens ORDER BY id",
  "SELECT token, key, value FROM properties ORDER BY token, key",
  "SELECT space, key, value FROM entries ORDER BY space, key",
];

/**
 * Returns the SHA-256 over the consensus state at the head, hexadecimal. Databases with the same state have the same digest,
 * whether they were synchronised, imported or restored.
 */
export function stateDigest(database: Database): string {
  const hash = createHash("sha256");
  const shown = createShownAttributes(database);
  for (const sql of STATE) {
    for (const row of database.prepare<Record<string, SqlValue>>(sql, { bigints: true }).iterate()) {
      const { address, attributes } = row;
      const whole =
        attributes === undefined ? row : { ...row, attributes: shown(`${address}`, `${attributes}`) };
      hash.update(JSON.stringify(Object.entries(whole).map(canonical)));
    }
    hash.update("\n");
  }
  return hash.digest("hex");
}

/** Returns numbers as text, and objects with sorted members. */
function canonical([column, value]: [string, SqlValue]): unknown {
  if (typeof value === "bigint") return String(value);
  return column === "attributes" ? sorted(JSON.parse(String(value))) : value;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return members.map(([name, member]) => [name, sorted(member)]);
}
