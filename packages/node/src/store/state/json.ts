/** Records of the state as JSON values: amounts are decimal text, and members keep their order. */
import type { Attributes, Delegate, Holding, Lock, Round } from "@uniknode/ledger";
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
