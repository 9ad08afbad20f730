/**
 * An index over many lists of conditions that finds the lists that may hold: a list that compares a member with a value
 * is found by the value. The cost depends on the number of matching lists, and hardly on the number of all lists.
 */
import { present } from "../../platform/present.ts";
import { type Condition, type Match, valuesAt } from "./conditions.ts";
import { compareDecimals, type Decimal, decimalOf, readInterval } from "./operators.ts";

export type Entry<T> = {
  readonly conditions: readonly Condition[];
  readonly match: Match;
  /** The value to find. */
  readonly value: T;
};

/** Returns all entries whose conditions hold for the content, and possibly others, in the order of the entries. */
export type Lookup<T> = (content: unknown) => T[];

/** A comparison that must be true for a list of conditions to hold. */
type Guard =
  | { readonly key: string; readonly kind: "equal"; readonly token: string }
  | { readonly key: string; readonly kind: "above" | "below"; readonly limit: Decimal };

/** Positions of the entries that have a limit, by ascending limit. */
type Limits = { readonly limit: Decimal; readonly position: number }[];

/** The guards on one member of the content. */
type Member = { readonly equal: Map<string, number[]>; readonly above: Limits; readonly below: Limits };

/** Positions of entries, by the guards of their conditions. */
type Index = {
  readonly members: ReadonlyMap<string, Member>;
  /** Entries that must be evaluated each time. */
  readonly others: readonly number[];
};

export function createLookup<T>(entries: readonly Entry<T>[]): Lookup<T> {
  const index = buildIndex(entries);
  return (content) =>
    positionsOf(index, content).map((position) => present(entries[position], "an entry").value);
}

function buildIndex(entries: readonly Pick<Entry<unknown>, "conditions" | "match">[]): Index {
  const members = new Map<string, Member>();
  const others: number[] = [];
  for (const [position, { conditions, match }] of entries.entries()) {
    const guards = guardsOf(conditions, match);
    if (!guards) others.push(position);
    for (const guard of guards ?? []) addGuard(members, guard, position);
  }
  for (const { above, below } of members.values()) {
    above.sort((a, b) => compareDecimals(a.limit, b.limit));
    below.sort((a, b) => compareDecimals(b.limit, a.limit));
  }
  return { members, others };
}

function addGuard(members: Map<string, Member>, guard: Guard, position: number): void {
  const member: Member = members.get(guard.key) ?? { equal: new Map(), above: [], below: [] };
  members.set(guard.key, member);
  if (guard.kind === "equal") {
    const positions = member.equal.get(guard.token) ?? [];
    member.equal.set(guard.token, positions);
    positions.push(position);
  } else member[guard.kind].push({ limit: guard.limit, position });
}

/** Returns the positions of the entries that may hold, in ascending order. */
function positionsOf({ members, others }: Index, content: unknown): number[] {
  const found = new Set(others);
  for (const [key, member] of members) {
    for (const value of valuesAt(content, key)) addMatching(member, value, found);
  }
  return [...found].sort((a, b) => a - b);
}

/** Adds the entries whose guards hold for a value of the member. */
function addMatching({ equal, above, below }: Member, value: unknown, found: Set<number>): void {
  const token = tokenOf(value);
  if (token !== undefined) for (const position of equal.get(token) ?? []) found.add(position);
  const number = decimalOf(value);
  if (!number) return;
  addReached(above, (limit) => compareDecimals(limit, number) <= 0, found);
  addReached(below, (limit) => compareDecimals(limit, number) >= 0, found);
}

/** Adds entries until the first limit that is not reached: limits are sorted. */
function addReached(limits: Limits, isReached: (limit: Decimal) => boolean, found: Set<number>): void {
  for (const { limit, position } of limits) {
    if (!isReached(limit)) return;
    found.add(position);
  }
}

/** Returns guards of which at least one must hold; undefined if the list cannot be found by values. */
function guardsOf(conditions: readonly Condition[], match: Match): readonly Guard[] | undefined {
  const guards = conditions.map(guardOf);
  if (match === "all") {
    const guard = guards.find((guard) => guard?.kind === "equal") ?? guards.find((guard) => guard);
    return guard && [guard];
  }
  const known = guards.filter((guard) => guard !== undefined);
  return known.length === guards.length && known.length > 0 ? known : undefined;
}

function guardOf({ key, condition, value }: Condition): Guard | undefined {
  switch (condition) {
    case "eq": {
      const token = tokenOf(value);
      return token === undefined || isStructure(value) ? undefined : { key, kind: "equal", token };
    }
    case "gt":
    case "gte":
    case "lt":
    case "lte": {
      const limit = decimalOf(value);
      return limit && { key, kind: condition.startsWith("g") ? "above" : "below", limit };
    }
    case "between":
      return { key, kind: "above", limit: readInterval(value).min };
    default:
      return undefined;
  }
}

/** Returns a token that equal values share; undefined for objects. */
function tokenOf(value: unknown): string | undefined {
  const decimal = decimalOf(value);
  if (decimal) return `${decimal.negative ? "-" : ""}${decimal.integer}.${decimal.fraction}`;
  return typeof value === "string" || typeof value === "boolean" ? String(value) : undefined;
}

/** JSON text equals the object or array that it represents. */
const isStructure = (value: unknown): boolean => typeof value === "string" && /^\s*[[{]/.test(value);
