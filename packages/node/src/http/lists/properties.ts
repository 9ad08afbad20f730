/** Lists of the properties of a unik: first the stored ones by key, then those of every unik that it does not store itself. */
import type { PastState } from "../../read/port.ts";
import type { StoredToken } from "../../read/rows.ts";
import { type ListRequest, listResponse, type Page, pageOf } from "../requests/pagination.ts";
import { systemProperties } from "../responses/unik.ts";
import { placeOf, readCursor } from "./memory.ts";

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
