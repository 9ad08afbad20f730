/** Conditions on the parties of a transaction (sender, recipient, payees); each has an index. */
import { CERTIFIED_MINT } from "@uniknode/ledger";
import { RECIPIENTS, SENDERS } from "../../../store/dictionaries.ts";
import type { Database } from "../../../store/engine/database.ts";
import { createNumberLookup } from "../../../store/engine/dictionary.ts";
import type { Foundation } from "../../foundation.ts";
import { type Condition, indexed, NEVER } from "../lists/conditions.ts";

export type Parties = {
  sentBy(address: string): Condition;
  sentWith(publicKey: string): Condition;
  /** Returns alternatives: the address is recipient, payee, or sender of a transaction without recipient. */
  receivedBy(address: string): Condition[];
  /** Returns alternatives: the wallet sends, receives, or earns by the transaction. */
  involving(address: string): Condition[];
  /** Returns alternatives: the sender, the recipient or a payee is one of the addresses. */
  between(addresses: readonly string[]): Condition[];
};

export function createParties(
  database: Database,
  { address: foundation, until = Number.MAX_SAFE_INTEGER }: Foundation,
): Parties {
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
