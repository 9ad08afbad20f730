/**
 * Conditions on the assets of transactions, which are stored as JSON, and on their parties (sender, recipient, payees), each of which has
 * an index.
 */
import { CERTIFIED_MINT } from "@uniknode/ledger";
import type { Database, SqlValue } from "../../../store/engine/database.ts";
import { createNumberLookup, RECIPIENTS, SENDERS } from "../../../store/engine/dictionary.ts";
import { endsOf, type Integer } from "../../page.ts";
import type { AssetConditions, Foundation, Parties } from "../../transaction-rules.ts";
import { type Condition, indexed, NEVER, oneOf } from "../lists/conditions.ts";

/** Defines the SQL functions of these conditions on the connection. */
export function defineAssets(database: Database): void {
  let last: { text: SqlValue; wanted: unknown } | undefined;
  /** True if the transaction has an asset with the members of a JSON object. */
  database.define("has_asset", (asset = null, text = null) => {
    // Parsed once per search: every row has the same text.
    if (last?.text !== text) last = { text, wanted: JSON.parse(text as string) };
    return asset !== null && contains(JSON.parse(asset as string), last.wanted) ? 1 : 0;
  });
}

/** Matches transactions of a type. */
export const ofType = (typeGroup: Integer, type: Integer): Condition =>
  endsOf(typeGroup) && endsOf(type)
    ? indexed({ sql: "type_group = +? AND type = +?", values: [BigInt(typeGroup), BigInt(type)] }, "many")
    : NEVER;

/** Id of the lock that a claim or refund refers to; null for every other transaction. */
const LOCK = "coalesce(asset ->> '$.claim.lockTransactionId', asset ->> '$.refund.lockTransactionId')";

/** Follows the operator `@>` of PostgreSQL: each item of an array must be contained in some item, in any order. */
function contains(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return Array.isArray(value) && wanted.every((item) => value.some((given) => contains(given, item)));
  }
  if (typeof wanted !== "object" || wanted === null) return value === wanted;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.entries(wanted).every(
    ([name, member]) => Object.hasOwn(value, name) && contains(value[name as keyof typeof value], member),
  );
}

export const ASSETS: AssetConditions<Condition> = {
  contains: (wanted) => ({ sql: "has_asset(asset, ?)", values: [JSON.stringify(wanted)] }),
  unlocks: (lockIds) => oneOf(LOCK, lockIds),
  isOfType: ofType,
  never: NEVER,
};

export function createParties(
  database: Database,
  { address: foundation, until = Number.MAX_SAFE_INTEGER }: Foundation,
): Parties<Condition> & { sentWith(publicKey: string): Condition } {
  const publicKey = database.prepare<{ publicKey: string | null }>(
    "SELECT public_key AS publicKey FROM wallets WHERE address = ?",
  );
  const payment = database.prepare("SELECT 1 FROM payees WHERE payee = +? LIMIT 1");
  const senderNumber = createNumberLookup(database, SENDERS);
  const recipientNumber = createNumberLookup(database, RECIPIENTS);
  const publicKeyOf = (address: string): string | undefined => publicKey.get(address)?.publicKey ?? undefined;

  const sentWith = (publicKey: string) => hasNumber("sender", senderNumber(publicKey));
  const receives = (address: string) => hasNumber("recipient", recipientNumber(address));

  function sentBy(address: string): Condition {
    const sender = publicKeyOf(address);
    return sender === undefined ? NEVER : sentWith(sender);
  }

  function ownWithoutRecipient(address: string): Condition {
    const sent = sentBy(address);
    return sent === NEVER ? NEVER : { ...sent, sql: `${sent.sql} AND recipient IS NULL` };
  }

  function isPaid(address: string): Condition {
    const number = recipientNumber(address);
    if (number === undefined || payment.get(number) === undefined) return NEVER;
    return {
      sql: `EXISTS (SELECT 1 FROM payees WHERE payee = +?
        AND payees.height = transactions.height AND payees.sequence = transactions.sequence)`,
      values: [number],
      index: { selectivity: "some", through: { table: "payees", sql: "payee = +?" } },
    };
  }

  const earned: Condition = {
    sql: "is_alive = 1 AND (type = +? OR height < ?)",
    values: [CERTIFIED_MINT, until],
    index: { selectivity: "some", wider: { sql: "is_alive = 1", values: [] } },
  };

  return {
    sentBy,
    sentWith,
    receivedBy: (address) => [receives(address), isPaid(address), ownWithoutRecipient(address)],
    involving: (address) => [
      sentBy(address),
      receives(address),
      isPaid(address),
      ...(address === foundation ? [earned] : []),
    ],
    between: (addresses) =>
      addresses.length === 0
        ? [NEVER]
        : addresses.flatMap((address) => [sentBy(address), receives(address), isPaid(address)]),
  };
}

/** Matches transactions by the number of a party; a party without transactions has none. */
const hasNumber = (column: "sender" | "recipient", number: number | undefined): Condition =>
  number === undefined ? NEVER : indexed({ sql: `${column} = +?`, values: [number] }, "some");
