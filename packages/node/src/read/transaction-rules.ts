/**
 * Rules of filters of transactions that do not depend on a database: the types that have an asset, and the foundation of a network,
 * which mints and updates pay although no transaction names it.
 */
import { addressFromPublicKey, type Network, transactionTypes } from "@uniknode/protocol";

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

export type TransactionType = { readonly typeGroup: number; readonly type: number };

/** Upper bound on the nesting of assets. */
const MAX_DEPTH = 16;

/** Returns whether a value is nested more deeply than any asset. */
export const isTooDeep = (value: unknown): boolean => isDeeperThan(MAX_DEPTH, value);

const isDeeperThan = (depth: number, value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (depth === 0 || Object.values(value).some((member) => isDeeperThan(depth - 1, member)));

/** Returns the types whose asset can have these members, so that few rows are read. */
export const typesWith = (members: readonly string[]): TransactionType[] =>
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
