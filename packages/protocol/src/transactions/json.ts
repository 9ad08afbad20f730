/** Transactions as JSON (transactions.md 15), copied and compared by their members. */
import type { Transaction, TransactionBody } from "./transaction.ts";
import { TYPE_GROUPS } from "./type-groups.ts";

/**
 * Converts a transaction to its decoded JSON form: 64-bit values as decimal text, `typeGroup` only if it is
 * not 1. Peers exchange this form, and the API returns it untransformed.
 */
export function transactionToJson({ typeGroup, ...members }: Transaction): Record<string, unknown> {
  return toJson(typeGroup === TYPE_GROUPS.core ? members : { typeGroup, ...members }) as Record<
    string,
    unknown
  >;
}

const toJson = (value: unknown): unknown =>
  typeof value === "bigint" ? value.toString() : mapMembers(value, toJson);

/** No schema has members deeper in a transaction. */
const MAX_DEPTH = 16;

/**
 * A deep copy of a JSON value, without values nested too deep for recursion. A member called
 * `__proto__` stays a member (transactions.md 11).
 */
export const copyJson = (value: unknown, depth = 0): unknown =>
  depth > MAX_DEPTH ? undefined : mapMembers(value, (member) => copyJson(member, depth + 1));

/** An assignment would set the prototype instead. */
const OWN_MEMBER = { enumerable: true, configurable: true, writable: true };

function mapMembers(value: unknown, map: (member: unknown) => unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => map(item));
  const mapped: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const member = map((value as Record<string, unknown>)[name]);
    if (name === "__proto__") Object.defineProperty(mapped, name, { ...OWN_MEMBER, value: member });
    else mapped[name] = member;
  }
  return mapped;
}

/**
 * Returns true only if both have the same members and values, nested members in the same order: the encoder
 * then writes the same bytes for both. The id of `encoded` does not count, because it is not encoded.
 */
export function isSameBody(decoded: TransactionBody, encoded: TransactionBody): boolean {
  const { id: _id, ...members } = encoded as Record<string, unknown>;
  const names = Object.keys(decoded) as (keyof TransactionBody)[];
  return (
    names.length === Object.keys(members).length &&
    names.every((name) => isSameValue(decoded[name], members[name]))
  );
}

function isSameValue(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (!isNested(one) || !isNested(other) || Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  const others = Object.keys(other);
  // The order of members decides the bytes of tokens, properties and ports (transactions.md 11).
  return (
    names.length === others.length &&
    names.every((name, index) => name === others[index] && isSameValue(one[name], other[name]))
  );
}

const isNested = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;
