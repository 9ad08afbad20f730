/**
 * Rules of filters of transactions that do not depend on a database: the types that have an asset, and the foundation of a network,
 * which mints and updates pay although no transaction names it.
 */
import { addressFromPublicKey, type Network, transactionTypes } from "@uniknode/protocol";
import type { TransactionFilter } from "./filters.ts";

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

/** Conditions on the parties of a transaction (sender, recipient, payees); each has an index. */
export type Parties<Condition, Alternative = Condition> = {
  sentBy(address: string): Condition;
  /** Returns alternatives: the address is recipient, payee, or sender of a transaction without recipient. */
  receivedBy(address: string): Alternative[];
  /** Returns alternatives: the wallet sends, receives, or earns by the transaction. */
  involving(address: string): Alternative[];
  /** Returns alternatives: the sender, the recipient or a payee is one of the addresses. */
  between(addresses: readonly string[]): Alternative[];
};

/** Returns the alternatives of each filter by parties. */
export const partyAlternatives = <Alternative>(
  { involving, receivedBy, between }: Pick<Parties<Alternative>, "involving" | "receivedBy" | "between">,
  { participant, recipientId, addresses }: TransactionFilter,
): Alternative[][] => [
  ...(participant === undefined ? [] : [involving(participant)]),
  ...(recipientId === undefined ? [] : [receivedBy(recipientId)]),
  ...(addresses === undefined ? [] : [between(addresses)]),
];

/** Conditions on the asset of a transaction. */
export type AssetConditions<Condition> = {
  /** Matches assets that contain all members of a value, at any depth, with the same values. */
  readonly contains: (wanted: object) => Condition;
  /** Matches claims and refunds of the locks. */
  readonly unlocks: (lockIds: readonly string[]) => Condition;
  readonly isOfType: (typeGroup: number, type: number) => Condition;
  /** A condition that no row satisfies. */
  readonly never: Condition;
};

/** Returns the condition of each filter by assets, and conditions for the types that such an asset can have. */
export function assetTests<Condition>(
  { asset, lockIds }: TransactionFilter,
  { contains, unlocks, isOfType, never }: AssetConditions<Condition>,
): { readonly condition: Condition; readonly types: Condition[] }[] {
  const anyType = (members: readonly string[]): Condition[] => {
    const types = typesWith(members);
    return types.length === 0 ? [never] : types.map(({ typeGroup, type }) => isOfType(typeGroup, type));
  };
  return [
    ...(asset === undefined
      ? []
      : [
          isDeeperThan(MAX_DEPTH, asset)
            ? { condition: never, types: [never] }
            : { condition: contains(asset), types: anyType(Object.keys(asset)) },
        ]),
    ...(lockIds === undefined
      ? []
      : [{ condition: unlocks(lockIds), types: [...anyType(["claim"]), ...anyType(["refund"])] }]),
  ];
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
