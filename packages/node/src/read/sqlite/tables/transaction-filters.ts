/** Converts filters and orders of transactions to queries for their pages. */
import { TYPE_GROUPS } from "@uniknode/protocol";
import { BLOCK_IDS, TRANSACTION_IDS } from "../../../store/chain/id-levels.ts";
import { type TransactionTerm, transactionTerms } from "../../cursor.ts";
import type { TransactionField, TransactionFilter, TransactionOrder } from "../../filters.ts";
import { type Integer, type Interval, isInteger64 } from "../../page.ts";
import type { Head } from "../../port.ts";
import { anyOf, isOfHeights } from "../../sql.ts";
import { assetTests, partyAlternatives } from "../../transaction-rules.ts";
import { type AccessPaths, accessPathsOf } from "../lists/access-paths.ts";
import {
  type Condition,
  conditionsOf,
  type Field,
  hasValue,
  heightConditions,
  heightsOf,
  identified,
  indexed,
  integer,
  NEVER,
  text,
} from "../lists/conditions.ts";
import type { StoredCounts } from "../lists/count-cache.ts";
import { termsOf } from "../lists/keyset-cursor.ts";
import type { ListQuery } from "../lists/planner.ts";
import type { ValueCondition } from "../lists/position-list.ts";
import type { TransactionQuery } from "../lists/transaction-list.ts";
import { ASSETS, type createParties, ofType } from "./transaction-conditions.ts";

const FIELDS = {
  version: integer("version"),
  // Qualified: the bare name would be the text column of the result.
  nonce: integer("transactions.nonce"),
  amount: integer("transactions.amount"),
  fee: integer("transactions.fee"),
} as const satisfies Record<Exclude<TransactionField, "id" | "senderPublicKey">, Field>;

const TYPE = integer("type");
const TYPE_GROUP = integer("type_group");

const ORDERS = {
  amount: FIELDS.amount,
  fee: FIELDS.fee,
  nonce: FIELDS.nonce,
  type: TYPE,
  typeGroup: TYPE_GROUP,
  vendorField: text("vendor_field"),
  version: FIELDS.version,
  height: integer("height"),
  sequence: integer("sequence"),
} as const satisfies Record<TransactionTerm, Field>;

/** Filters that a value index can look up. Types have an index. */
const SEARCHED = ["amount", "fee", "nonce", "version", "vendorField"] as const;

export type FilterDependencies = {
  readonly parties: ReturnType<typeof createParties>;
  readonly storedCounts: StoredCounts;
  /** Returns the height of the first block at or after a network time. */
  readonly heightAt: (time: number) => number;
};

export function transactionQueryOf(
  deps: FilterDependencies,
  head: Head,
  filter: TransactionFilter,
  order: TransactionOrder,
): TransactionQuery {
  const assets = assetTests(filter, ASSETS);
  // Each of these is a list of alternatives. The first list is looked up, the others are only tested.
  const [alternatives, ...others] = [
    ...partyAlternatives(deps.parties, filter),
    ...assets.map(({ types }) => types),
  ];
  const types = alternatives ? undefined : typesOfGroup(deps, head, filter);
  const rest = types ? withoutGroup(filter) : filter;
  const own = conditionsFor(deps, rest);
  const heights = heightsOf(head, filter, deps.heightAt);
  const isRange = !alternatives && !types && own.length === 0;
  const conditions = [
    ...(isOfHeights(filter) ? heightConditions(heights) : []),
    ...own,
    ...others.map(anyOf),
    // Last, because it reads the asset.
    ...assets.map(({ condition }) => condition),
  ];
  const { field, direction, sequence = "desc" } = order;
  return {
    selection: {
      conditions,
      alternatives: alternatives ?? types ?? [],
      order: termsOf(transactionTerms(order), ORDERS),
    },
    ...(field !== "timestamp" && { by: ORDERS[field] }),
    direction,
    sequence,
    ...(isRange && { heights }),
    filter: kindOf(filter, isRange),
    values: valueConditions(rest),
    indexed: indexedOf(deps, filter, alternatives),
    typesTotal: alternatives || isRange ? undefined : totalOfTypes(deps, head, filter),
  };
}

/** Returns the conditions of a filter except heights and times. */
function conditionsFor({ parties }: FilterDependencies, filter: TransactionFilter): Condition[] {
  const { id, blockId, vendorField, senderPublicKey, senderId } = filter;
  // A type without a group belongs to the core group.
  const { type, typeGroup = type === undefined ? undefined : TYPE_GROUPS.core } = filter;
  const conditions = conditionsOf(FIELDS, filter);
  if (isOne(type) && isOne(typeGroup)) conditions.push(ofType(typeGroup, type));
  else {
    if (type !== undefined) conditions.push(hasValue(TYPE, type));
    if (typeGroup !== undefined) conditions.push(hasValue(TYPE_GROUP, typeGroup));
  }
  if (id !== undefined) conditions.push(identified(TRANSACTION_IDS, id));
  if (senderPublicKey !== undefined) conditions.push(parties.sentWith(senderPublicKey));
  if (blockId !== undefined) {
    const { sql, values } = identified(BLOCK_IDS, blockId);
    conditions.push(indexed({ sql: `height = (SELECT height FROM blocks WHERE ${sql})`, values }, "few"));
  }
  if (vendorField !== undefined) {
    conditions.push(matchesValue(ORDERS.vendorField, vendorField));
  }
  if (senderId !== undefined) conditions.push(parties.sentBy(senderId));
  return conditions;
}

/** Returns the number of transactions that match a filter; undefined if it has conditions other than types. */
function totalOfTypes(deps: FilterDependencies, head: Head, filter: TransactionFilter): number | undefined {
  const { type, typeGroup, ...others } = filter;
  if (typeof type === "object" || typeof typeGroup === "object") return undefined;
  if (isOfHeights(filter) || conditionsFor(deps, others).length > 0) return undefined;
  const group = typeGroup ?? TYPE_GROUPS.core;
  return deps.storedCounts
    .byType(head)
    .filter((one) => one.typeGroup === Number(group) && (type === undefined || one.type === Number(type)))
    .reduce((sum, { transactions }) => sum + transactions, 0);
}

/**
 * Expands a group to its types if no other condition has an index: an index has the transactions of each type along the
 * chain, but not those of a group.
 */
function typesOfGroup(
  deps: FilterDependencies,
  head: Head,
  filter: TransactionFilter,
): Condition[] | undefined {
  const { type, typeGroup } = filter;
  if (type !== undefined || !isOne(typeGroup)) return undefined;
  if (conditionsFor(deps, filter).some(({ index }) => index)) return undefined;
  const types = deps.storedCounts.byType(head).filter((one) => one.typeGroup === Number(typeGroup));
  return types.length === 0 ? [NEVER] : types.map((one) => ofType(one.typeGroup, one.type));
}

/** Returns the parts of the filter that an index can look up, each on its own. */
function indexedOf(
  { parties }: FilterDependencies,
  { senderId, senderPublicKey }: TransactionFilter,
  alternatives: readonly Condition[] | undefined,
): AccessPaths[] {
  return [
    ...(senderId === undefined ? [] : [accessPathsOf({ conditions: [parties.sentBy(senderId)] })]),
    ...(senderPublicKey === undefined
      ? []
      : [accessPathsOf({ conditions: [parties.sentWith(senderPublicKey)] })]),
    ...(alternatives ? [accessPathsOf({ conditions: [], alternatives })] : []),
  ];
}

/** @param isRange whether the filter has only heights */
function kindOf(filter: TransactionFilter, isRange: boolean): ListQuery["filter"] {
  if (isRange) return isOfHeights(filter) ? "heights" : "none";
  return filter.id !== undefined || filter.blockId !== undefined || isOfHeights(filter) ? "blocks" : "values";
}

const valueConditions = (filter: TransactionFilter): ValueCondition[] =>
  // No index orders a group without a type.
  [...SEARCHED, ...(filter.type === undefined ? (["typeGroup"] as const) : [])].flatMap((field) => {
    const value = filter[field];
    if (value === undefined || value === "" || (field !== "vendorField" && !isStorable(value))) return [];
    return [{ ...ORDERS[field], value, test: matchesValue(ORDERS[field], value) }];
  });

/** Returns whether a column could have the values; a value index cannot look up others. */
const isStorable = (value: Integer | Interval): boolean => {
  const { from, to } = typeof value === "object" ? value : { from: value, to: value };
  return [from, to].every((end) => end === undefined || isInteger64(BigInt(end)));
};

const withoutGroup = ({ typeGroup: _, ...others }: TransactionFilter): TransactionFilter => others;

const isOne = (value: Integer | Interval | undefined): value is Integer =>
  value !== undefined && typeof value !== "object";

/** Converts a filter on a column; texts match as substrings. */
const matchesValue = ({ column, kind }: Field, value: Integer | Interval): Condition =>
  kind === "text"
    ? { sql: `instr(${column}, ?) > 0`, values: [`${value}`] }
    : hasValue({ column, kind }, value);
