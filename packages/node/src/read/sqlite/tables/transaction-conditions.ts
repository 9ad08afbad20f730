/**
 * Conditions on the assets of transactions, which are stored as JSON, and on their parties (sender, recipient, payees), each of which has
 * an index.
 */
import { CERTIFIED_MINT } from "@uniknode/ledger";
import type { Database, SqlValue, Statement } from "../../../store/engine/database.ts";
import { createNumberLookup, RECIPIENTS, SENDERS } from "../../../store/engine/dictionary.ts";
import { endsOf, type Integer } from "../../page.ts";
import type { TransactionConditions } from "../../transaction-rules.ts";
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

/** Matches transactions of a type. */
export const ofType = (typeGroup: Integer, type: Integer): Condition =>
  endsOf(typeGroup) && endsOf(type)
    ? indexed({ sql: "type_group = +? AND type = +?", values: [BigInt(typeGroup), BigInt(type)] }, "many")
    : NEVER;

/** Id of the lock that a claim or refund refers to; null for every other transaction. */
const LOCK = "coalesce(asset ->> '$.claim.lockTransactionId', asset ->> '$.refund.lockTransactionId')";

export class SqliteConditions implements TransactionConditions<Condition> {
  readonly #wallet: Statement<{ publicKey: string | null }>;
  readonly #payment: Statement<unknown>;
  readonly #senderNumber: (publicKey: string) => number | undefined;
  readonly #recipientNumber: (address: string) => number | undefined;
  readonly isOfType = ofType;
  readonly never = NEVER;

  constructor(database: Database) {
    this.#wallet = database.prepare("SELECT public_key AS publicKey FROM wallets WHERE address = ?");
    this.#payment = database.prepare("SELECT 1 FROM payees WHERE payee = +? LIMIT 1");
    this.#senderNumber = createNumberLookup(database, SENDERS);
    this.#recipientNumber = createNumberLookup(database, RECIPIENTS);
  }

  sentBy(address: string): Condition {
    const sender = this.#wallet.get(address)?.publicKey ?? undefined;
    return sender === undefined ? NEVER : this.sentWith(sender);
  }

  sentWith(publicKey: string): Condition {
    return hasNumber("sender", this.#senderNumber(publicKey));
  }

  receives(address: string): Condition {
    return hasNumber("recipient", this.#recipientNumber(address));
  }

  isPaid(address: string): Condition {
    const number = this.#recipientNumber(address);
    if (number === undefined || this.#payment.get(number) === undefined) return NEVER;
    return {
      sql: `EXISTS (SELECT 1 FROM payees WHERE payee = +?
        AND payees.height = transactions.height AND payees.sequence = transactions.sequence)`,
      values: [number],
      index: { selectivity: "some", through: { table: "payees", sql: "payee = +?" } },
    };
  }

  earnsUntil(height = Number.MAX_SAFE_INTEGER): Condition {
    return {
      sql: "is_alive = 1 AND (type = +? OR height < ?)",
      values: [CERTIFIED_MINT, height],
      index: { selectivity: "some", wider: { sql: "is_alive = 1", values: [] } },
    };
  }

  between(addresses: readonly string[]): Condition[] {
    if (addresses.length === 0) return [NEVER];
    return addresses.flatMap((address) => [
      this.sentBy(address),
      this.receives(address),
      this.isPaid(address),
    ]);
  }

  contains(wanted: object): Condition {
    return { sql: "has_asset(asset, ?)", values: [JSON.stringify(wanted)] };
  }

  unlocks(lockIds: readonly string[]): Condition {
    return oneOf(LOCK, lockIds);
  }
}

/** Matches transactions by the number of a party; a party without transactions has none. */
const hasNumber = (column: "sender" | "recipient", number: number | undefined): Condition =>
  number === undefined ? NEVER : indexed({ sql: `${column} = +?`, values: [number] }, "some");
