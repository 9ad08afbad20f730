/** Reads the body of a request member by member: known names only, each with its own reader. */
import { SubscriptionError } from "./error.ts";

/** Reads each member; a reader throws when the value is not valid. */
export type Readers<T> = { readonly [N in keyof T]-?: (value: unknown, name: string) => T[N] };

/**
 * The members that a body gives, each optional.
 *
 * @throws {SubscriptionError}
 */
export function readMembers<T>(body: unknown, readers: Readers<T>): Partial<T> {
  return Object.fromEntries(
    Object.entries(readObject(body, "the body")).map(([name, value]) => {
      if (!Object.hasOwn(readers, name)) throw invalid(`"${name}" is not allowed`);
      return [name, readers[name as keyof T](value, name)];
    }),
  ) as Partial<T>;
}

/** @throws {SubscriptionError} when the member is missing */
export function required<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw invalid(`"${name}" is required`);
  return value;
}

/** @throws {SubscriptionError} */
export function readObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid(`${what} must be an object`);
  }
  return value as Readonly<Record<string, unknown>>;
}

/** An integer within its bounds. */
export const integer =
  (minimum: number, maximum: number) =>
  (value: unknown, name: string): number => {
    if (typeof value === "number" && Number.isInteger(value) && value >= minimum && value <= maximum)
      return value;
    throw invalid(`"${name}" must be an integer from ${minimum} to ${maximum}`);
  };

/** One of some words. */
export const oneOf =
  <T extends string>(...words: readonly T[]) =>
  (value: unknown, name: string): T => {
    const word = words.find((word) => word === value);
    if (word === undefined) throw invalid(`"${name}" must be one of ${words.join(", ")}`);
    return word;
  };

export const invalid = (message: string) => new SubscriptionError(message);
