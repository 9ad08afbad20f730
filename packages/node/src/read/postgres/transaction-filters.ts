/** Converts filters and orders of transactions to selections; each party (sender, recipient, payees) has an index. */

import { CERTIFIED_MINT } from "@uniknode/ledger";
import { type TransactionTerm, transactionTerms } from "../cursor.ts";
import type { TransactionField, TransactionFilter, TransactionOrder } from "../filters.ts";
import { allOf, anyOf, conditionsOf, type Field } from "../sql.ts";
import { type Foundation, groupOf, lookupsOf, type TransactionConditions } from "../transaction-rules.ts";
import {
  type Condition,
  hasValue,
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

/**
 * Returns the selection of a filter.
 *
 * @param heights condition on the height, if the filter has heights or times
 */
export function selectionOf(
  foundation: Foundation,
  filter: TransactionFilter,
  heights: Condition | undefined,
  order: TransactionOrder,
): Selection {
  const { alternatives, others, assets } = lookupsOf(CONDITIONS, foundation, filter);
  const conditions = [
    ...(heights ? [heights] : []),
    ...conditionsFor(filter),
    ...others.map((some) => anyOf(some.map(toTest))),
    ...assets,
  ];
  return {
    conditions,
    ...(alternatives && { alternatives }),
    order: termsOf(transactionTerms(order), COLUMNS),
  };
}

/** Returns the conditions of a filter, except heights, times and conditions with alternatives. */
function conditionsFor(filter: TransactionFilter): Condition[] {
  const { blockId, vendorField, senderId, type } = filter;
  const typeGroup = groupOf(filter);
  return [
    ...conditionsOf(FIELDS, filter, hasValue),
    ...(typeGroup === undefined ? [] : [isInteger("type_group", typeGroup)]),
    ...(type === undefined ? [] : [isInteger("type", type)]),
    ...(blockId === undefined ? [] : [inBlock(blockId)]),
    ...(vendorField === undefined
      ? []
      : [{ sql: "position(?::bytea IN vendor_field) > 0", values: [bytesOf(vendorField)] }]),
    ...(senderId === undefined ? [] : [CONDITIONS.sentBy(senderId)]),
  ];
}

function inBlock(id: string): Condition {
  const { sql, values } = isText("id", id);
  return values.length === 0 ? NEVER : { sql: `height = (SELECT height FROM blocks WHERE ${sql})`, values };
}

const isPaid = (address: string): Alternative =>
  isStorable(address) ? { sql: "payees.address = ?", values: [address], through: "payees" } : NEVER;

const CONDITIONS: TransactionConditions<Condition, Alternative> = {
  sentBy: (address) =>
    isStorable(address)
      ? { sql: "sender = (SELECT public_key FROM wallets WHERE address = ?)", values: [address] }
      : NEVER,
  receives: (address) => isText("recipient", address),
  isPaid,
  earnsUntil: (height) => ({
    sql: `is_alive = 1 AND (type = ${CERTIFIED_MINT} OR ${height === undefined ? "TRUE" : "height < ?::bigint"})`,
    values: height === undefined ? [] : [height],
  }),
  between: (addresses) => [
    {
      sql: "sender IN (SELECT public_key FROM wallets WHERE address = ANY (?::text[]))",
      values: [addresses.filter(isStorable)],
    },
    isOneOf("recipient", addresses),
    // One of each: a transaction with two of the payees would count twice.
    ...addresses.map(isPaid),
  ],
  contains(wanted) {
    const text = jsonText(wanted);
    return text === undefined ? NEVER : { sql: `${jsonOf("asset")} @> ?::jsonb`, values: [text] };
  },
  unlocks: (lockIds) => isOneOf(LOCK, lockIds),
  isOfType: (typeGroup, type) => allOf([isInteger("type_group", typeGroup), isInteger("type", type)]),
  never: NEVER,
};

/** Converts an alternative to a test of each row, for selections whose rows are found by another alternative. */
const toTest = ({ through, sql, values }: Alternative): Condition =>
  through === undefined
    ? { sql, values }
    : {
        sql: `EXISTS (SELECT FROM ${through} WHERE ${sql}
          AND ${through}.height = transactions.height AND ${through}.sequence = transactions.sequence)`,
        values,
      };
