/** Records of the state as JSON rows: the key, and the members that are not part of the key. */
import type { Attributes, Change, Holding, Round, TableName, Token, Wallet } from "@uniknode/ledger";
import type { Json } from "../../platform/json/lossless.ts";
import {
  attributesFromJson,
  attributesToJson,
  holdingValueFromJson,
  holdingValueToJson,
  type RoundJson,
  roundFromJson,
  roundToJson,
} from "./json.ts";

/** A record of a table; undefined: the table has no record with the key. */
export type Stored = Change["after"];

/** Members of a record by position; none if the record is absent. */
export function toMembers(table: TableName, record: Stored): unknown[] {
  if (record === undefined) return [];
  switch (table) {
    case "wallets": {
      const { publicKey, balance, nonce, attributes } = record as Wallet;
      return [`${balance}`, `${nonce}`, attributesToJson(attributes), ...(publicKey ? [publicKey] : [])];
    }
    case "tokens": {
      const { ownerId, firstTransaction, lastTransaction } = record as Token;
      return [ownerId, firstTransaction, lastTransaction];
    }
    case "rounds":
      return [roundToJson(record as Round)];
    case "holdings": {
      const { value, previous = null, next = null } = record as Holding;
      return [holdingValueToJson(value), previous, next];
    }
    default:
      return [record];
  }
}

/** Reverses `toMembers`. */
export function fromMembers(table: TableName, key: string, members: readonly unknown[]): Stored {
  if (members.length === 0) return undefined;
  switch (table) {
    case "wallets": {
      const [balance, nonce, attributes, publicKey] = members as [string, string, Json<Attributes>, string?];
      return {
        address: key,
        ...(publicKey !== undefined && { publicKey }),
        balance: BigInt(balance),
        nonce: BigInt(nonce),
        attributes: attributesFromJson(attributes),
      };
    }
    case "tokens": {
      const [ownerId, firstTransaction, lastTransaction] = members as [string, string, string];
      return { id: key, ownerId, firstTransaction, lastTransaction };
    }
    case "rounds":
      return roundFromJson(members[0] as RoundJson);
    case "holdings":
      return holdingFromMembers(members as HoldingMembers);
    default:
      return members[0] as string;
  }
}

/** Members of a holding: value, and the ids of its neighbours. */
export type HoldingMembers = [value: Json<Holding["value"]>, previous: string | null, next: string | null];

export const holdingFromMembers = ([value, previous, next]: HoldingMembers): Holding => ({
  value: holdingValueFromJson(value),
  ...(previous !== null && { previous }),
  ...(next !== null && { next }),
});
