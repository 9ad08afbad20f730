/** Rules of the asset filter that do not depend on an engine. */
import { transactionTypes } from "@uniknode/protocol";

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
