/** Converts filters and orders of transactions to selections. */

import { TYPE_GROUPS } from "@uniknode/protocol";
import { isTooDeep, typesWith } from "../asset-types.ts";
import type { TransactionField, TransactionFilter, TransactionOrder } from "../filters.ts";
import { TRANSACTIONS } from "../lists.ts";
import { type TransactionTerm, transactionTerms } from "../orders.ts";
import type { Integer, Interval } from "../page.ts";
import {
  allOf,
  anyOf,
  type Condition,
  conditionsOf,
  type Field,
  integer,
  isInteger,
  isOneOf,
  isText,
  NEVER,
  text,
} from "./lists/conditions.ts";
import { termsOf } from "./lists/keyset-cursor.ts";
import type { Selection } from "./lists/page.ts";
import type { Alternative } from "./lists/page-sql.ts";
import { type Parties, toTest } from "./parties.ts";
import { bytesOf, jsonOf, jsonText } from "./texts.ts";

/** A condition on the asset of a transaction, and conditions for the types that such an asset can have. */
type AssetTest = { readonly condition: Condition; readonly types: readonly Condition[] };

/** Matches assets that contain all given members, at any depth, with the same values. */
function withAsset(wanted: object): AssetTest {
  const text = isTooDeep(wanted) ? undefined : jsonText(wanted);
  if (text === undefined) return { condition: NEVER, types: [] };
  return {
    condition: { sql: `${jsonOf("asset")} @> ?::jsonb`, values: [text] },
    types: anyType(Object.keys(wanted)),
  };
}

/** Matches claims and refunds of the locks. */
const unlocking = (lockIds: readonly string[]): AssetTest => ({
  condition: isOneOf(LOCK, lockIds),
  types: [...anyType(["claim"]), ...anyType(["refund"])],
});

/** Id of the lock that a claim or refund refers to; null for every other transaction. */
const LOCK = `coalesce(${jsonOf("asset")} #>> '{claim,lockTransactionId}',
  ${jsonOf("asset")} #>> '{refund,lockTransactionId}')`;

const anyType = (members: readonly string[]): Condition[] =>
  typesWith(members).map(({ typeGroup, type }) => ofType(typeGroup, type));

/** Matches transactions of a type. */
const ofType = (typeGroup: Integer, type: Integer): Condition =>
  allOf([isInteger("type_group", typeGroup), isInteger("type", type)]);

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
  parties: Parties,
  filter: TransactionFilter,
  heights: Condition | undefined,
  order: TransactionOrder,
): Selection {
  const assets = assetTests(filter);
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

/** Returns the alternatives of each filter by parties. */
const partyAlternatives = (
  parties: Parties,
  { participant, recipientId, addresses }: TransactionFilter,
): (readonly Alternative[])[] => [
  ...(participant === undefined ? [] : [parties.involving(participant)]),
  ...(recipientId === undefined ? [] : [parties.receivedBy(recipientId)]),
  ...(addresses === undefined ? [] : [parties.between(addresses)]),
];

const assetTests = ({ asset, lockIds }: TransactionFilter): AssetTest[] => [
  ...(asset === undefined ? [] : [withAsset(asset)]),
  ...(lockIds === undefined ? [] : [unlocking(lockIds)]),
];

/** Returns the conditions of a filter, except heights, times and conditions with alternatives. */
function conditionsFor(parties: Parties, filter: TransactionFilter): Condition[] {
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
