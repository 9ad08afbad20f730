/** Converts filters and orders of transactions to selections; each party (sender, recipient, payees) has an index. */

import { CERTIFIED_MINT } from "@uniknode/ledger";
import { type Network, TYPE_GROUPS } from "@uniknode/protocol";
import { type TransactionTerm, transactionTerms } from "../cursor.ts";
import type { TransactionField, TransactionFilter, TransactionOrder } from "../filters.ts";
import { TRANSACTIONS } from "../lists.ts";
import type { Integer, Interval } from "../page.ts";
import { allOf, anyOf } from "../sql.ts";
import {
  type AssetConditions,
  assetTests,
  foundationOf,
  type Parties,
  partyAlternatives,
} from "../transaction-rules.ts";
import {
  type Condition,
  conditionsOf,
  type Field,
  integer,
  isInteger,
  isOneOf,
  isStorable,
  isText,
  NEVER,
  termsOf,
  text,
} from "./lists/conditions.ts";
import type { Selection } from "./lists/page.ts";
import type { Alternative } from "./lists/page-sql.ts";
import { bytesOf, jsonOf, jsonText } from "./row-text.ts";

/** Id of the lock that a claim or refund refers to; null for every other transaction. */
const LOCK = `coalesce(${jsonOf("asset")} #>> '{claim,lockTransactionId}',
  ${jsonOf("asset")} #>> '{refund,lockTransactionId}')`;

export type TransactionParties = Parties<Condition, Alternative>;

const ASSETS: AssetConditions<Condition> = {
  contains(wanted) {
    const text = jsonText(wanted);
    return text === undefined ? NEVER : { sql: `${jsonOf("asset")} @> ?::jsonb`, values: [text] };
  },
  unlocks: (lockIds) => isOneOf(LOCK, lockIds),
  isOfType: (typeGroup, type) => allOf([isInteger("type_group", typeGroup), isInteger("type", type)]),
  never: NEVER,
};

const FIELDS = {
  id: text("id"),
  version: integer("version"),
  senderPublicKey: text("sender"),
  nonce: integer("nonce"),
  amount: integer("amount"),
  fee: integer("fee"),
} as const satisfies Record<TransactionField, Field>;

const COLUMNS = {
  ...FIELDS,
  type: integer("type"),
  typeGroup: integer("type_group"),
  vendorField: { column: "vendor_field" },
  height: integer("height"),
  sequence: integer("sequence"),
} as const satisfies Record<TransactionTerm, Pick<Field, "column">>;

/** A type without a group belongs to the core group. */
export const groupOf = ({ type, typeGroup }: TransactionFilter): TransactionFilter["typeGroup"] =>
  typeGroup ?? (type === undefined ? undefined : TYPE_GROUPS.core);

/**
 * Returns the selection of a filter.
 *
 * @param heights condition on the height, if the filter has heights or times
 */
export function selectionOf(
  parties: TransactionParties,
  filter: TransactionFilter,
  heights: Condition | undefined,
  order: TransactionOrder,
): Selection {
  const assets = assetTests(filter, ASSETS);
  // Each of these is a list of alternatives. The first list is looked up, the others are only tested.
  const [alternatives, ...others] = [
    ...partyAlternatives(parties, filter),
    ...assets.map(({ types }) => types),
  ];
  const conditions = [
    ...(heights ? [heights] : []),
    ...conditionsFor(parties, filter),
    ...others.map((some) => anyOf(some.map(toTest))),
    ...assets.map(({ condition }) => condition),
  ];
  return {
    conditions,
    ...(alternatives && { alternatives }),
    order: termsOf(transactionTerms(order), COLUMNS),
  };
}

/** Returns true if a filter has only types, each as a single value. */
export const isOfTypes = ({ type, typeGroup, ...others }: TransactionFilter): boolean =>
  isEmpty(others) && !isEmpty({ type, typeGroup }) && isOne(type) && isOne(typeGroup);

/** Returns true if a filter has only heights and times. */
export const isOfHeightsOnly = ({ height: _, timestamp: __, ...others }: TransactionFilter): boolean =>
  isEmpty(others);

const NAMES: ReadonlySet<string> = new Set([
  ...Object.keys(TRANSACTIONS.filters),
  ...(["height", "participant", "lockIds"] satisfies (keyof TransactionFilter)[]),
]);

/** Returns true if a filter has no value. The other parameters of a request are ignored, because they do not filter. */
const isEmpty = (filter: object): boolean =>
  Object.entries(filter).every(([name, value]) => value === undefined || !NAMES.has(name));

const isOne = (value: Integer | Interval | undefined): boolean => typeof value !== "object";

/** Returns the conditions of a filter, except heights, times and conditions with alternatives. */
function conditionsFor(parties: TransactionParties, filter: TransactionFilter): Condition[] {
  const { blockId, vendorField, senderId, type } = filter;
  const typeGroup = groupOf(filter);
  return [
    ...conditionsOf(FIELDS, filter),
    ...(typeGroup === undefined ? [] : [isInteger("type_group", typeGroup)]),
    ...(type === undefined ? [] : [isInteger("type", type)]),
    ...(blockId === undefined ? [] : [inBlock(blockId)]),
    ...(vendorField === undefined
      ? []
      : [{ sql: "position(?::bytea IN vendor_field) > 0", values: [bytesOf(vendorField)] }]),
    ...(senderId === undefined ? [] : [parties.sentBy(senderId)]),
  ];
}

function inBlock(id: string): Condition {
  const { sql, values } = isText("id", id);
  return values.length === 0 ? NEVER : { sql: `height = (SELECT height FROM blocks WHERE ${sql})`, values };
}

export function createParties(network: Network): TransactionParties {
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
const toTest = ({ through, sql, values }: Alternative): Condition =>
  through === undefined
    ? { sql, values }
    : {
        sql: `EXISTS (SELECT FROM ${through} WHERE ${sql}
          AND ${through}.height = transactions.height AND ${through}.sequence = transactions.sequence)`,
        values,
      };
