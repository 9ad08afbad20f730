/** Conditions on the assets of transactions, which are stored as JSON. */
import { isTooDeep, typesWith } from "../asset-types.ts";
import type { Integer } from "../page.ts";
import { jsonOf, jsonText } from "./json.ts";
import { allOf, type Condition, isInteger, isOneOf, NEVER } from "./lists/conditions.ts";

/** A condition on the asset of a transaction, and conditions for the types that such an asset can have. */
export type AssetTest = { readonly condition: Condition; readonly types: readonly Condition[] };

/** Matches assets that contain all given members, at any depth, with the same values. */
export function withAsset(wanted: object): AssetTest {
  const text = isTooDeep(wanted) ? undefined : jsonText(wanted);
  if (text === undefined) return { condition: NEVER, types: [] };
  return {
    condition: { sql: `${jsonOf("asset")} @> ?::jsonb`, values: [text] },
    types: anyType(Object.keys(wanted)),
  };
}

/** Matches claims and refunds of the locks. */
export const unlocking = (lockIds: readonly string[]): AssetTest => ({
  condition: isOneOf(LOCK, lockIds),
  types: [...anyType(["claim"]), ...anyType(["refund"])],
});

/** Id of the lock that a claim or refund refers to; null for every other transaction. */
const LOCK = `coalesce(${jsonOf("asset")} #>> '{claim,lockTransactionId}',
  ${jsonOf("asset")} #>> '{refund,lockTransactionId}')`;

const anyType = (members: readonly string[]): Condition[] =>
  typesWith(members).map(({ typeGroup, type }) => ofType(typeGroup, type));

/** Matches transactions of a type. */
export const ofType = (typeGroup: Integer, type: Integer): Condition =>
  allOf([isInteger("type_group", typeGroup), isInteger("type", type)]);
