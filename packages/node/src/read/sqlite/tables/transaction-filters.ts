/** Converts filters and orders of transactions to queries for their pages. */
import { BLOCK_IDS, TRANSACTION_IDS } from "../../../store/chain/id-levels.ts";
import { type TransactionTerm, transactionTerms } from "../../cursor.ts";
import type { TransactionField, TransactionFilter, TransactionOrder } from "../../filters.ts";
import { type Integer, type Interval, isInteger64 } from "../../page.ts";
import type { Head } from "../../port.ts";
import { anyOf, conditionsOf, isOfHeights } from "../../sql.ts";
import {
  type Foundation,
  groupOf,
  isOfHeightsOnly,
  isOfTypes,
  lookupsOf,
  totalOfTypes,
} from "../../transaction-rules.ts";
import { type AccessPaths, accessPathsOf } from "../lists/access-paths.ts";
import {
  type Condition,
  type Field,
  hasValue,
  heightConditions,
  heightsOf,
  identified,
  indexed,
  integer,
  NEVER,
  termsOf,
  text,
} from "../lists/conditions.ts";
import type { StoredCounts } from "../lists/count-cache.ts";
import type { ListQuery } from "../lists/planner.ts";
import type { ValueCondition } from "../lists/position-list.ts";
import type { TransactionQuery } from "../lists/transaction-list.ts";
import { ofType, type SqliteConditions } from "./transaction-conditions.ts";

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
  readonly conditions: SqliteConditions;
  readonly foundation: Foundation;
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
  const { alternatives, others, assets } = lookupsOf(deps.conditions, deps.foundation, filter);
  const types = alternatives ? undefined : typesOfGroup(deps, head, filter);
  const { typeGroup: _, ...withoutGroup } = filter;
  const rest = types ? withoutGroup : filter;
  const heights = heightsOf(head, filter, deps.heightAt);
  const isRange = isOfHeightsOnly(filter);
  const conditions = [
    ...(isOfHeights(filter) ? heightConditions(heights) : []),
    ...conditionsFor(deps, rest),
    ...others.map(anyOf),
    // Last, because they read the asset.
    ...assets,
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
    typesTotal: isOfTypes(filter) ? totalOfTypes(deps.storedCounts.byType(head), filter) : undefined,
  };
}

/** Returns the conditions of a filter except heights and times. */
function conditionsFor({ conditions }: FilterDependencies, filter: TransactionFilter): Condition[] {
  const { id, blockId, vendorField, senderPublicKey, senderId, type } = filter;
  const typeGroup = groupOf(filter);
  const found: Condition[] = conditionsOf(FIELDS, filter, hasValue);
  if (isOne(type) && isOne(typeGroup)) found.push(ofType(typeGroup, type));
  else {
    if (type !== undefined) found.push(hasValue(TYPE, type));
    if (typeGroup !== undefined) found.push(hasValue(TYPE_GROUP, typeGroup));
  }
  if (id !== undefined) found.push(identified(TRANSACTION_IDS, id));
  if (senderPublicKey !== undefined) found.push(conditions.sentWith(senderPublicKey));
  if (blockId !== undefined) {
    const { sql, values } = identified(BLOCK_IDS, blockId);
    found.push(indexed({ sql: `height = (SELECT height FROM blocks WHERE ${sql})`, values }, "few"));
  }
  if (vendorField !== undefined) found.push(matchesValue(ORDERS.vendorField, vendorField));
  if (senderId !== undefined) found.push(conditions.sentBy(senderId));
  return found;
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
  { conditions }: FilterDependencies,
  { senderId, senderPublicKey }: TransactionFilter,
  alternatives: readonly Condition[] | undefined,
): AccessPaths[] {
  return [
    ...(senderId === undefined ? [] : [accessPathsOf({ conditions: [conditions.sentBy(senderId)] })]),
    ...(senderPublicKey === undefined
      ? []
      : [accessPathsOf({ conditions: [conditions.sentWith(senderPublicKey)] })]),
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

const isOne = (value: Integer | Interval | undefined): value is Integer =>
  value !== undefined && typeof value !== "object";

/** Converts a filter on a column; texts match as substrings. */
const matchesValue = ({ column, kind }: Field, value: Integer | Interval): Condition =>
  kind === "text"
    ? { sql: `instr(${column}, ?) > 0`, values: [`${value}`] }
    : hasValue({ column, kind }, value);
