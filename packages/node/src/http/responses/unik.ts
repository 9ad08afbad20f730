/**
 * Tokens in responses (http-api.md 4.7), and lists of their properties: first the stored ones by key, then those of every unik that
 * it does not store itself.
 */
import { type Static, Type } from "../../platform/json/schema.ts";
import type { PastState } from "../../read/port.ts";
import type { ListedToken, StoredToken } from "../../read/rows.ts";
import { address, id } from "../core/values.ts";
import { placeOf, readCursor } from "../requests/memory-list.ts";
import { type ListRequest, listResponse, type Page, pageOf } from "../requests/pagination.ts";

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
function systemProperties(
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

/** The present state, or an earlier one. */
export type TokenState = Pick<PastState, "tokens" | "wallets">;

type Property = readonly [key: string, value: string];

/** @throws {CursorError | SnapshotError} */
export async function propertyList(request: ListRequest, state: TokenState, token: StoredToken) {
  const page = pageOf(request.query);
  const { rows, first, totalCount } = await findRows(page, state, token);
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  const next = rows.length > page.limit && last && placeOf(last[0], first + shown.length - 1);
  return listResponse(request, page, {
    rows: shown.map(([key, value]) => ({ [key]: value })),
    totalCount,
    ...(next && { next }),
  });
}

type FoundRows = {
  /** One more row than the page has, if others follow. */
  readonly rows: readonly Property[];
  /** Index of the first row in the whole list. */
  readonly first: number;
  readonly totalCount: number;
};

async function findRows({ after, ...page }: Page, state: TokenState, token: StoredToken): Promise<FoundRows> {
  const limit = page.limit + 1;
  const every = await systemPropertiesOf(state, token);
  const [lastKey, lastIndex] = after === undefined ? [undefined, page.offset] : readCursor(after);
  const keys = every.map(([key]) => key);
  const storedKeys = await state.tokens.storedKeys(
    token.id,
    lastKey === undefined ? keys : [...keys, lastKey],
  );
  const others = every.filter(([key]) => !storedKeys.has(key));
  const list = async (range: { offset: number; limit: number; afterKey?: string }) => {
    const { rows, totalCount } = await state.tokens.properties(token.id, range);
    return { stored: rows.map(({ key, value }): Property => [key, value]), totalCount };
  };

  const place = others.findIndex(([key]) => key === lastKey) + 1;
  if (place > 0) {
    const { totalCount } = await list({ offset: 0, limit: 0 });
    return { rows: others.slice(place), first: totalCount + place, totalCount: totalCount + others.length };
  }
  const isAfterKey = lastKey !== undefined && storedKeys.has(lastKey);
  const { stored, totalCount } = await list({
    limit,
    ...(isAfterKey ? { offset: 0, afterKey: lastKey } : { offset: lastIndex }),
  });
  const skipped = isAfterKey ? 0 : Math.max(0, lastIndex - totalCount);
  const rows = stored.length < limit ? [...stored, ...others.slice(skipped)] : stored;
  return { rows, first: lastIndex + Number(isAfterKey), totalCount: totalCount + others.length };
}

/** Returns the properties that every unik has without storing them. */
export async function systemPropertiesOf(
  { wallets }: Pick<TokenState, "wallets">,
  { type, ownerId }: StoredToken,
): Promise<Property[]> {
  const properties = systemProperties(type, await wallets.hasSecondKey(ownerId));
  return properties.flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
}
