/**
 * Rules of filters of transactions that do not depend on a database: their alternatives, the types that have an asset, and the
 * foundation of a network, which mints and updates pay although no transaction names it.
 */
import { addressFromPublicKey, type Network, TYPE_GROUPS, transactionTypes } from "@uniknode/protocol";
import type { TransactionFilter } from "./filters.ts";
import { TRANSACTIONS } from "./lists.ts";
import type { Integer, Interval } from "./page.ts";

export type Foundation = {
  /** Absent in a network without a foundation. */
  readonly address: string | undefined;
  /** First height from which updates no longer pay; absent if no height is set. */
  readonly until: number | undefined;
};

export const foundationOf = ({ description, milestones }: Network): Foundation => ({
  address:
    description.foundation && addressFromPublicKey(description.foundation.publicKey, description.pubKeyHash),
  until: milestones.find(({ unsTokenEcoV3 }) => unsTokenEcoV3)?.height,
});

/** Conditions on transactions, as each database expresses them. An index can look up an `Alternative`. */
export type TransactionConditions<Condition, Alternative = Condition> = {
  sentBy(address: string): Condition;
  /** Matches transactions that name the address as their recipient. */
  receives(address: string): Condition;
  /** Matches transactions with the address as a payee. */
  isPaid(address: string): Alternative;
  /** Matches transactions by which the foundation earns, given `Foundation.until`. */
  earnsUntil(height: number | undefined): Condition;
  /** Returns alternatives: the sender, the recipient or a payee is one of the addresses. */
  between(addresses: readonly string[]): Alternative[];
  /** Matches assets that contain all members of a value, at any depth, with the same values. */
  contains(wanted: object): Condition;
  /** Matches claims and refunds of the locks. */
  unlocks(lockIds: readonly string[]): Condition;
  isOfType(typeGroup: number, type: number): Condition;
  /** A condition that no row satisfies. */
  readonly never: Condition;
};

/** Conditions of the filters by parties (sender, recipient, payees) and assets. */
type Lookups<Condition, Alternative> = {
  /** Conditions of which one must hold, each with an index; absent without such a filter. */
  readonly alternatives: Alternative[] | undefined;
  /** Further lists of alternatives, which are only tested. */
  readonly others: Alternative[][];
  /** Tests of the asset, which read it. */
  readonly assets: Condition[];
};

export function lookupsOf<Alternative, Condition extends Alternative & { readonly sql: string }>(
  conditions: TransactionConditions<Condition, Alternative>,
  foundation: Foundation,
  filter: TransactionFilter,
): Lookups<Condition, Alternative> {
  const { participant, recipientId, senderId, senderPublicKey, addresses } = filter;
  const isAlone = [senderId, senderPublicKey, addresses].every((sender) => sender === undefined);
  const assets = assetTests(conditions, filter);
  const [alternatives, ...others] = [
    ...(participant === undefined ? [] : [involving(conditions, foundation, participant)]),
    ...(recipientId === undefined
      ? []
      : [isAlone ? receivedBy(conditions, recipientId) : [conditions.receives(recipientId)]]),
    ...(addresses === undefined ? [] : [conditions.between(addresses)]),
    ...assets.map(({ types }) => types),
  ];
  return { alternatives, others, assets: assets.map(({ condition }) => condition) };
}

/** Returns alternatives: the wallet sends, receives, or earns by the transaction. */
const involving = <Alternative, Condition extends Alternative>(
  conditions: TransactionConditions<Condition, Alternative>,
  foundation: Foundation,
  address: string,
): Alternative[] => [
  conditions.sentBy(address),
  conditions.receives(address),
  conditions.isPaid(address),
  ...(address === foundation.address ? [conditions.earnsUntil(foundation.until)] : []),
];

/** Returns alternatives: the address is recipient, payee, or sender of a transaction without recipient. */
function receivedBy<Alternative, Condition extends Alternative & { readonly sql: string }>(
  conditions: TransactionConditions<Condition, Alternative>,
  address: string,
): Alternative[] {
  const sent = conditions.sentBy(address);
  const own = sent === conditions.never ? sent : { ...sent, sql: `${sent.sql} AND recipient IS NULL` };
  return [conditions.receives(address), conditions.isPaid(address), own];
}

/** Returns the condition of each filter by assets, and conditions for the types that such an asset can have. */
function assetTests<Condition>(
  conditions: TransactionConditions<Condition, unknown>,
  { asset, lockIds }: TransactionFilter,
): { readonly condition: Condition; readonly types: Condition[] }[] {
  const { never } = conditions;
  const anyType = (members: readonly string[]): Condition[] => {
    const types = typesWith(members);
    return types.length === 0
      ? [never]
      : types.map(({ typeGroup, type }) => conditions.isOfType(typeGroup, type));
  };
  const tests: { readonly condition: Condition; readonly types: Condition[] }[] = [];
  if (asset !== undefined) {
    tests.push(
      isDeeperThan(MAX_DEPTH, asset)
        ? { condition: never, types: [never] }
        : { condition: conditions.contains(asset), types: anyType(Object.keys(asset)) },
    );
  }
  if (lockIds !== undefined) {
    tests.push({
      condition: conditions.unlocks(lockIds),
      types: [...anyType(["claim"]), ...anyType(["refund"])],
    });
  }
  return tests;
}

/** Upper bound on the nesting of assets. */
const MAX_DEPTH = 16;

const isDeeperThan = (depth: number, value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (depth === 0 || Object.values(value).some((member) => isDeeperThan(depth - 1, member)));

/** Returns the types whose asset can have these members, so that few rows are read. */
const typesWith = (members: readonly string[]) =>
  transactionTypes
    .filter(({ schema, legacySchema }) =>
      [schema, legacySchema].some((form) => {
        const asset = form?.properties.asset as AssetSchema | undefined;
        if (!asset) return false;
        const known = (asset.anyOf ?? [asset]).flatMap(({ properties }) => Object.keys(properties ?? {}));
        return members.every((name) => known.includes(name));
      }),
    )
    .map(({ typeGroup, type }) => ({ typeGroup, type }));

type AssetSchema = { readonly properties?: object; readonly anyOf?: readonly AssetSchema[] };

/** A type without a group belongs to the core group. */
export const groupOf = ({ type, typeGroup }: TransactionFilter): TransactionFilter["typeGroup"] =>
  typeGroup ?? (type === undefined ? undefined : TYPE_GROUPS.core);

/** Returns true if a filter has only types, each as a single value. */
export const isOfTypes = ({ type, typeGroup, ...others }: TransactionFilter): boolean =>
  isEmpty(others) && !isEmpty({ type, typeGroup }) && isSingle(type) && isSingle(typeGroup);

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

const isSingle = (value: Integer | Interval | undefined): boolean => typeof value !== "object";

/** Number of the transactions of a type. */
export type TypeCount = { readonly typeGroup: number; readonly type: number; readonly transactions: number };

/** Returns the number of transactions of a filter that has only types. */
export function totalOfTypes(counts: readonly TypeCount[], filter: TransactionFilter): number {
  const [group, type] = [Number(groupOf(filter)), filter.type];
  return counts
    .filter((one) => one.typeGroup === group && (type === undefined || one.type === Number(type)))
    .reduce((sum, { transactions }) => sum + transactions, 0);
}
