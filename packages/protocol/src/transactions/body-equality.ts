/** Compares a decoded transaction with the members that its bytes were encoded from. */
import type { TransactionBody } from "./transaction.ts";

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
