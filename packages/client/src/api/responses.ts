/** Types that many responses share (http-api.md 3.1, 4.1, 4.2 and 5). */

/** Decimal text of an amount in the smallest unit: 10^-8 of a token. Calculate with `BigInt`. */
export type Amount = string;

/** An amount that the node writes as a number: a `bigint` beyond 2^53. `BigInt` accepts both. */
export type WholeAmount = number | bigint;

/** An integer of a filter, up to 2^53 - 1. */
export type Integer = number | bigint | string;

/** Both ends are included, and each can be omitted. */
export type Interval<Value = Integer> = { readonly from?: Value; readonly to?: Value };

/** Field and direction, as in `height:desc`. */
export type OrderBy<Field extends string> = `${Field}:${"asc" | "desc"}`;

export type Timestamp = {
  /** Seconds since the epoch of the network. */
  readonly epoch: number;
  /** Seconds since 1970. */
  readonly unix: number;
  /** ISO 8601, UTC. */
  readonly human: string;
};

export type ApiResponse<Data, Extra = unknown> = { readonly data: Data } & Extra;

/** Head of the chain at which a response was read: responses with one height are consistent. */
export type WithChainmeta = {
  readonly chainmeta: { readonly height: number; readonly timestamp: Timestamp };
};

/** `at` requests the state after the block of this height. Only nodes with `--history full` have earlier states. */
export type AtQuery = { readonly at?: number };

/** `transform: false` requests the object as it is signed; the default is easier to read. */
export type TransformQuery = { readonly transform?: boolean };

/** The form that a query requests. */
export type Transformed<Asked, Shown, Raw> = Asked extends { readonly transform: false } ? Raw : Shown;
