/**
 * Records of the state as JSON: rows of the members that are not part of the key, and their values, in which amounts are decimal text
 * and members keep their order.
 */
import type {
  Attributes,
  Change,
  Delegate,
  Holding,
  Lock,
  Round,
  TableName,
  Token,
  Wallet,
} from "@uniknode/ledger";
import type { Json } from "../../platform/json/lossless.ts";
import { present } from "../../platform/present.ts";

/** Returns the given attributes themselves if none is an amount. */
export function attributesToJson(attributes: Attributes): Json<Attributes> {
  const { delegate, htlc } = attributes;
  if (!delegate && !htlc) return attributes as object as Json<Attributes>;
  return {
    ...attributes,
    ...(delegate && { delegate: delegateToJson(delegate) }),
    ...(htlc && {
      htlc: { ...htlc, lockedBalance: `${htlc.lockedBalance}` },
    }),
  } as Json<Attributes>;
}

/** Uses the value itself, without a copy. */
export function attributesFromJson(json: Json<Attributes>): Attributes {
  const { delegate, htlc } = json;
  if (!delegate && !htlc) return json as object as Attributes;
  return {
    ...json,
    ...(delegate && { delegate: delegateFromJson(delegate) }),
    ...(htlc && {
      htlc: { ...htlc, lockedBalance: BigInt(htlc.lockedBalance) },
    }),
  } as Attributes;
}

/** The forging order is a permutation of the delegates: positions use a tenth of the space. */
export type RoundJson = Omit<Json<Round>, "order"> & { readonly order: readonly number[] };

export function roundToJson({ round, height, delegates, order }: Round): RoundJson {
  const positions = new Map(delegates.map(({ publicKey }, position) => [publicKey, position]));
  return {
    round,
    height,
    delegates: delegates.map(({ publicKey, voteBalance }) => ({ publicKey, voteBalance: `${voteBalance}` })),
    order: order.map((publicKey) => present(positions.get(publicKey), "a delegate of the round")),
  };
}

export const roundFromJson = ({ round, height, delegates, order }: RoundJson): Round => ({
  round,
  height,
  delegates: delegates.map(({ publicKey, voteBalance }) => ({ publicKey, voteBalance: BigInt(voteBalance) })),
  order: order.map((position) => present(delegates[position], "a delegate of the round").publicKey),
});

// A member that is assigned again keeps its position.
const delegateToJson = (delegate: Delegate): Json<Delegate> =>
  ({
    ...delegate,
    voteBalance: `${delegate.voteBalance}`,
    forgedFees: `${delegate.forgedFees}`,
    forgedRewards: `${delegate.forgedRewards}`,
    ...(delegate.weightedVoteBalance !== undefined && {
      weightedVoteBalance: `${delegate.weightedVoteBalance}`,
    }),
  }) as Json<Delegate>;

const delegateFromJson = (json: Json<Delegate>): Delegate =>
  ({
    ...json,
    voteBalance: BigInt(json.voteBalance),
    forgedFees: BigInt(json.forgedFees),
    forgedRewards: BigInt(json.forgedRewards),
    ...(json.weightedVoteBalance !== undefined && { weightedVoteBalance: BigInt(json.weightedVoteBalance) }),
  }) as Delegate;

type HoldingValue = Holding["value"];

/** Only locks have an amount. */
const isLock = (value: HoldingValue | Json<HoldingValue>): value is Lock | Json<Lock> =>
  typeof value === "object" && "secretHash" in value;

export const holdingValueToJson = (value: HoldingValue): Json<HoldingValue> =>
  (isLock(value) ? { ...value, amount: `${value.amount}` } : value) as Json<HoldingValue>;

export const holdingValueFromJson = (json: Json<HoldingValue>): HoldingValue =>
  (isLock(json) ? { ...json, amount: BigInt(json.amount) } : json) as HoldingValue;

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
