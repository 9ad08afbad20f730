/** Conditions on the assets of transactions, which are stored as JSON. */
import type { Database, SqlValue } from "../../../store/engine/database.ts";
import { isTooDeep, typesWith } from "../../asset-types.ts";
import { endsOf, type Integer } from "../../page.ts";
import { type Condition, indexed, NEVER, oneOf } from "../lists/conditions.ts";

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

/** A condition on the asset of a transaction, and conditions for the types that such an asset can have. */
export type AssetTest = { readonly condition: Condition; readonly types: readonly Condition[] };

/** Matches assets that contain all given members, at any depth, with the same values. */
export const withAsset = (wanted: object): AssetTest =>
  isTooDeep(wanted)
    ? { condition: NEVER, types: [NEVER] }
    : {
        condition: { sql: "has_asset(asset, ?)", values: [JSON.stringify(wanted)] },
        types: anyType(Object.keys(wanted)),
      };

/** Matches claims and refunds of the locks. */
export const unlocking = (lockIds: readonly string[]): AssetTest => ({
  condition: oneOf(LOCK, lockIds),
  types: [...anyType(["claim"]), ...anyType(["refund"])],
});

/** Id of the lock that a claim or refund refers to; null for every other transaction. */
const LOCK = "coalesce(asset ->> '$.claim.lockTransactionId', asset ->> '$.refund.lockTransactionId')";

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

/** Matches the types whose asset can have these members. */
function anyType(members: readonly string[]): Condition[] {
  const types = typesWith(members);
  if (types.length === 0) return [NEVER];
  return types.map(({ typeGroup, type }) => ofType(typeGroup, type));
}

/** Matches transactions of a type. */
export const ofType = (typeGroup: Integer, type: Integer): Condition =>
  endsOf(typeGroup) && endsOf(type)
    ? indexed({ sql: "type_group = +? AND type = +?", values: [BigInt(typeGroup), BigInt(type)] }, "many")
    : NEVER;
