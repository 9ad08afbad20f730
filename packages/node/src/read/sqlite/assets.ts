/** Conditions on the assets of transactions, which are stored as JSON. */
import { transactionTypes } from "@uniknode/protocol";
import type { Database, SqlValue } from "../../store/engine/database.ts";
import type { Integer } from "../page.ts";
import { type Condition, found, NEVER, oneOf } from "./pages/conditions.ts";

/** Defines the SQL functions of these conditions on the connection. */
export function defineAssets(database: Database): void {
  let last: { text: SqlValue; wanted: unknown } | undefined;
  /** True if the transaction has an asset with the members of a JSON object. */
  database.define("has_asset", (asset = null, text = null) => {
    // Parsed once per search: every row has the same text.
    if (last?.text !== text) last = { text, wanted: JSON.parse(text as string) };
    return asset !== null && contains(JSON.parse(asset as string), last.wanted) ? 1 : 0;
  });
}

/** A condition on the asset of a transaction, and the types of which the transaction must have one. */
export type AssetTest = { readonly condition: Condition; readonly types: readonly Condition[] };

/** Matches assets that contain all given members, at any depth, with the same values. */
export const withAsset = (wanted: object): AssetTest =>
  isDeeperThan(MAX_DEPTH, wanted)
    ? { condition: NEVER, types: [NEVER] }
    : {
        condition: { sql: "has_asset(asset, ?)", values: [JSON.stringify(wanted)] },
        types: typesWith(Object.keys(wanted)),
      };

/** Matches claims and refunds of the locks. */
export const unlocking = (lockIds: readonly string[]): AssetTest => ({
  condition: oneOf(LOCK, lockIds),
  types: [...typesWith(["claim"]), ...typesWith(["refund"])],
});

/** Id of the lock that a claim or refund refers to; null for every other transaction. */
const LOCK = "coalesce(asset ->> '$.claim.lockTransactionId', asset ->> '$.refund.lockTransactionId')";

/** Upper bound on the nesting of assets. */
const MAX_DEPTH = 16;

const isDeeperThan = (depth: number, value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (depth === 0 || Object.values(value).some((member) => isDeeperThan(depth - 1, member)));

/** Follows the operator `@>` of PostgreSQL: each item of an array must be contained in some item, in any order. */
function contains(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return Array.isArray(value) && wanted.every((item) => value.some((given) => contains(given, item)));
  }
  if (typeof wanted !== "object" || wanted === null) return value === wanted;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.entries(wanted).every(
    ([name, member]) => Object.hasOwn(value, name) && contains(value[name as keyof typeof value], member),
  );
}

/** Matches the types whose asset can have these members, so that few rows are read. */
function typesWith(members: readonly string[]): Condition[] {
  const types = transactionTypes.filter(({ schema, legacySchema }) =>
    [schema, legacySchema].some((form) => {
      const asset = form?.properties.asset as AssetSchema | undefined;
      if (!asset) return false;
      const known = (asset.anyOf ?? [asset]).flatMap(({ properties }) => Object.keys(properties ?? {}));
      return members.every((name) => known.includes(name));
    }),
  );
  if (types.length === 0) return [NEVER];
  return types.map(({ typeGroup, type }) => ofType(typeGroup, type));
}

/** Matches transactions of a type. */
export const ofType = (typeGroup: Integer, type: Integer): Condition =>
  found({ sql: "type_group = +? AND type = +?", values: [BigInt(typeGroup), BigInt(type)] }, "many");

type AssetSchema = { readonly properties?: object; readonly anyOf?: readonly AssetSchema[] };
