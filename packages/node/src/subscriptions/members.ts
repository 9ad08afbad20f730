/** Reads the body of a request member by member: known names only, each with its own reader. */
import * as expected from "../platform/text/wording.ts";
import { SubscriptionError, type SubscriptionErrorCode } from "./error.ts";

/** Reads each member; a reader throws when the value is not valid. */
export type Readers<T> = { readonly [N in keyof T]-?: (value: unknown, name: string) => T[N] };

/** Maximum number of unknown members that an error names. */
const MAX_NAMED = 100;

/**
 * Reads the members of a body, each optional.
 *
 * @throws {SubscriptionError}
 */
export function readMembers<T>(body: unknown, readers: Readers<T>): Partial<T> {
  const given = Object.entries(readObject(body, "the body"));
  const members = given
    .filter(([name]) => Object.hasOwn(readers, name))
    .map(([name, value]) => [name, readers[name as keyof T](value, name)]);
  const unknown = given.map(([name]) => name).filter((name) => !Object.hasOwn(readers, name));
  if (unknown.length > 0) throw invalid(notAllowed(unknown, Object.keys(readers)), "UNKNOWN_MEMBER");
  return Object.fromEntries(members) as Partial<T>;
}

function notAllowed(names: readonly string[], known: readonly string[]): string {
  const hints = names.length === 1 ? known : [];
  return names
    .slice(0, MAX_NAMED)
    .map((name) => `"${name}" ${expected.notAllowed(name, hints)}`)
    .join(", ");
}

/** @throws {SubscriptionError} if the member is missing */
export function required<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw invalid(`"${name}" ${expected.REQUIRED}`, "MISSING_MEMBER");
  return value;
}

/** @throws {SubscriptionError} */
export function readObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid(`${what} ${expected.mustBe("an object")}`);
  }
  return value as Readonly<Record<string, unknown>>;
}

/** Creates a reader of an integer within bounds. */
export const integer =
  (minimum: number, maximum: number) =>
  (value: unknown, name: string): number => {
    if (typeof value === "number" && Number.isInteger(value) && value >= minimum && value <= maximum)
      return value;
    throw invalid(`"${name}" ${expected.mustBe(expected.integer(minimum, maximum))}`);
  };

/** Reads a non-empty text. */
export function text(value: unknown, name: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw invalid(`"${name}" ${expected.mustBe(expected.typeName("string"))}`);
}

/** Creates a reader of one of the given words. */
export const oneOf =
  <T extends string>(...words: readonly T[]) =>
  (value: unknown, name: string): T => {
    const word = words.find((word) => word === value);
    if (word === undefined) throw invalid(`"${name}" ${expected.mustBe(expected.oneOf(words))}`);
    return word;
  };

export const invalid = (message: string, code: SubscriptionErrorCode = "INVALID_MEMBER") =>
  new SubscriptionError(code, message);
