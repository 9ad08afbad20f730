/** Conditions on the assets of transactions, which stand in their bytes only. */
import { sealedFromTrustedBytes, transactionToJson, transactionTypes } from "@uniknode/protocol";
import type { Database } from "../database.ts";
import type { Condition } from "./conditions.ts";

/** Makes the conditions known to the connection. */
export function defineAssets(database: Database): void {
  /** Whether the transaction has an asset with the members of a JSON object. */
  database.define("has_asset", (bytes, wanted) => {
    const asset = assetOf(bytes as Uint8Array);
    return asset !== undefined && contains(asset, JSON.parse(wanted as string)) ? 1 : 0;
  });
  /** Id of the lock that a claim or a refund is about; null for every other transaction. */
  database.define("lock_of", (bytes) => {
    const { claim, refund } = assetOf(bytes as Uint8Array) ?? {};
    return (claim ?? refund)?.lockTransactionId ?? null;
  });
}

/** Members given at any depth are in the asset too, with the same values. */
export const assetConditions = (wanted: object): Condition[] => [
  isOneOf(typesWith(Object.keys(wanted))),
  { sql: "has_asset(bytes, ?)", values: [JSON.stringify(wanted)] },
];

/** Claims and refunds of the locks. */
export const unlockConditions = (lockIds: readonly string[]): Condition[] => [
  isOneOf(typesWith(["claim"]).concat(typesWith(["refund"]))),
  { sql: "lock_of(bytes) IN (SELECT value FROM json_each(?))", values: [JSON.stringify(lockIds)] },
];

type Asset = { claim?: Unlock; refund?: Unlock };
type Unlock = { lockTransactionId: string };

const assetOf = (bytes: Uint8Array): Asset | undefined =>
  transactionToJson(sealedFromTrustedBytes(bytes, "").data).asset as Asset | undefined;

/** As PostgreSQL contains JSON in JSON: each item of an array in some item, in any order. */
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

type TypeNumbers = { readonly typeGroup: number; readonly type: number };

/** Types whose asset can have these members: so few rows are read. */
const typesWith = (members: readonly string[]): readonly TypeNumbers[] =>
  transactionTypes.filter(({ schema, legacySchema }) =>
    [schema, legacySchema].some((form) => {
      const asset = form?.properties.asset as AssetSchema | undefined;
      if (!asset) return false;
      const known = (asset.anyOf ?? [asset]).flatMap(({ properties }) => Object.keys(properties ?? {}));
      return members.every((name) => known.includes(name));
    }),
  );

type AssetSchema = { readonly properties?: object; readonly anyOf?: readonly AssetSchema[] };

const isOneOf = (types: readonly TypeNumbers[]): Condition => ({
  sql: "(type_group, type) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))",
  values: [JSON.stringify(types.map(({ typeGroup, type }) => [typeGroup, type]))],
});
