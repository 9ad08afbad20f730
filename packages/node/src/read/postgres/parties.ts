/** Conditions on the parties of a transaction (sender, recipient, payees); each has an index. */
import { CERTIFIED_MINT } from "@uniknode/ledger";
import type { Network } from "@uniknode/protocol";
import { foundationOf } from "../foundation.ts";
import { type Condition, isOneOf, isStorable, isText, NEVER } from "./lists/conditions.ts";
import type { Alternative } from "./lists/page-sql.ts";

export type Parties = {
  sentBy(address: string): Condition;
  /** Returns alternatives: the address is recipient, payee, or sender of a transaction without recipient. */
  receivedBy(address: string): Alternative[];
  /** Returns alternatives: the wallet sends, receives, or earns by the transaction. */
  involving(address: string): Alternative[];
  /** Returns alternatives: the sender, the recipient or a payee is one of the addresses. */
  between(addresses: readonly string[]): Alternative[];
};

export function createParties(network: Network): Parties {
  const foundation = foundationOf(network);
  return {
    sentBy,
    receivedBy: (address) => [receives(address), isPaid(address), ownWithoutRecipient(address)],
    involving: (address) => [
      sentBy(address),
      receives(address),
      isPaid(address),
      ...(address === foundation.address ? [earned(foundation.until)] : []),
    ],
    between: (addresses) => [
      {
        sql: "sender IN (SELECT public_key FROM wallets WHERE address = ANY (?::text[]))",
        values: [addresses.filter(isStorable)],
      },
      isOneOf("recipient", addresses),
      // One of each: a transaction with two of the payees would count twice.
      ...addresses.map(isPaid),
    ],
  };
}

const sentBy = (address: string): Condition =>
  isStorable(address)
    ? { sql: "sender = (SELECT public_key FROM wallets WHERE address = ?)", values: [address] }
    : NEVER;

function ownWithoutRecipient(address: string): Condition {
  const sent = sentBy(address);
  return sent === NEVER ? NEVER : { ...sent, sql: `${sent.sql} AND recipient IS NULL` };
}

const receives = (address: string): Condition => isText("recipient", address);

const isPaid = (address: string): Alternative =>
  isStorable(address) ? { sql: "payees.address = ?", values: [address], through: "payees" } : NEVER;

const earned = (until: number | undefined): Condition => ({
  sql: `is_alive = 1 AND (type = ${CERTIFIED_MINT} OR ${until === undefined ? "TRUE" : "height < ?::bigint"})`,
  values: until === undefined ? [] : [until],
});

/** Converts an alternative to a test of each row, for selections whose rows are found by another alternative. */
export const toTest = ({ through, sql, values }: Alternative): Condition =>
  through === undefined
    ? { sql, values }
    : {
        sql: `EXISTS (SELECT FROM ${through} WHERE ${sql}
          AND ${through}.height = transactions.height AND ${through}.sequence = transactions.sequence)`,
        values,
      };
