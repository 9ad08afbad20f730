/** Transactions as JSON (transactions.md 15). */
import type { Transaction } from "./transaction.ts";
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
