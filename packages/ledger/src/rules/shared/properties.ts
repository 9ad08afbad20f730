/** Properties of tokens (state.md 3.1 and 3.4). */
import type { Draft } from "../../state/draft.ts";
import { propertyKey, type StateReader } from "../../state/tables.ts";

/** 1 individual, 2 organization, 3 network. */
export const TYPE = "type";
/** Disclosed values, joined by commas. */
export const EXPLICIT_VALUES = "explicitValues";
/** True if the token is the name of a delegate: "true" or "false". */
export const DELEGATE_BADGE = "Badges/NP/Delegate";

export const getProperty = (state: StateReader, tokenId: string, key: string): string | undefined =>
  state.get("properties", propertyKey(tokenId, key));

/** Inserts or replaces a value; `null` deletes it, without an error if there is none. */
export const setProperty = (draft: Draft, tokenId: string, key: string, value: string | null): void =>
  draft.set("properties", propertyKey(tokenId, key), value ?? undefined);
