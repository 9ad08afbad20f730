/** Tokens in responses (http-api.md 4.7). */
import { type Static, Type } from "../../platform/json/schema.ts";
import type { ListedToken, StoredToken } from "../../read/rows.ts";
import { address, id } from "./values.ts";

/** `unik` has more members than `nft`, the plain token of the family. */
export type TokenName = "unik" | "nft";

/** Members that only `unik` has. */
const extras = {
  type: Type.Optional(Type.String({ description: "1: individual, 2: organization, 3: network." })),
  explicitValues: Type.Optional(Type.Array(Type.String(), { description: "Disclosed names." })),
  defaultExplicitValue: Type.Optional(Type.String({ description: "First disclosed name." })),
};

export const TokenSummary = Type.Object({ id, ownerId: address, ...extras }, { title: "TokenSummary" });

export const TokenDetail = Type.Object(
  {
    id,
    ownerId: address,
    transactions: Type.Object({ first: Type.Object({ id }), last: Type.Object({ id }) }),
    ...extras,
  },
  { title: "TokenDetail" },
);

export const TokenProperty = Type.Record(Type.String(), Type.String(), {
  title: "TokenProperty",
  description: "Object with one member: the key and its value.",
  minProperties: 1,
  maxProperties: 1,
});

export function tokenSummary(
  { id, ownerId, type, explicitValues }: ListedToken,
  name: TokenName,
): Static<typeof TokenSummary> {
  if (name === "nft") return { id, ownerId };
  const values = explicitValues ? explicitValues.split(",") : [];
  const [first] = values;
  return {
    id,
    ownerId,
    ...(type !== null && { type }),
    ...(first !== undefined && { explicitValues: values, defaultExplicitValue: first }),
  };
}

export function tokenDetail(token: StoredToken, name: TokenName): Static<typeof TokenDetail> {
  const { id, ownerId, ...extras } = tokenSummary(token, name);
  const { firstTransaction, lastTransaction } = token;
  return {
    id,
    ownerId,
    transactions: { first: { id: firstTransaction }, last: { id: lastTransaction } },
    ...extras,
  };
}

/** Values of the property `type` (state.md 3.2). */
const INDIVIDUAL = "1";
const ORGANIZATION = "2";
const NETWORK = "3";

/**
 * Returns properties that every token has without storing them, in the order of responses; undefined if the type of the
 * token has none. They are computed for responses and are never part of the state.
 */
export function systemProperties(
  type: string | null,
  ownerHasSecondKey: boolean,
): [key: string, value: string | undefined][] {
  const everlasting = { [INDIVIDUAL]: "false", [ORGANIZATION]: "false", [NETWORK]: "true" }[type ?? ""];
  return [
    ["Badges/Security/SecondPassphrase", `${ownerHasSecondKey}`],
    ["Badges/Security/Multisig", "false"],
    ["Badges/Rightness/Verified", type === ORGANIZATION ? "false" : undefined],
    ["Badges/Rightness/Everlasting", everlasting],
    ["Badges/XPLevel", "1"],
    ["Badges/Trust/TrustIn", "0"],
    ["Badges/Trust/TrustOut", "0"],
    ["Badges/NP/Delegate", "false"],
    ["Badges/NP/StorageProvider", "false"],
    ["Badges/NP/UNIKIssuer", "false"],
    ["Authentications/CosmicNonce", "1"],
    ["LifeCycle/Status", "2"],
  ];
}
