/** Checks of values that an error can name by their path, such as `steps[3].transfer.amount`. */
import { ScenarioError } from "./error.ts";

/** @throws {ScenarioError} SCENARIO_INVALID with the path and the expected value */
export type Check = (value: unknown, at: string) => void;

/** Maximum number of characters of a quoted value. */
const MAX_QUOTED = 60;

export const invalid = (at: string, message: string): ScenarioError =>
  new ScenarioError("SCENARIO_INVALID", message, { at });

const refuse = (value: unknown, at: string, expected: string): never => {
  const text = JSON.stringify(value) ?? "nothing";
  const quoted = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}...` : text;
  throw invalid(at, `${expected} is expected, not ${quoted}`);
};

export const matching =
  (pattern: RegExp, expected: string): Check =>
  (value, at) => {
    if (typeof value !== "string" || !pattern.test(value)) refuse(value, at, expected);
  };

export const textOf = (maxCharacters: number): Check =>
  matching(new RegExp(`^.{1,${maxCharacters}}$`, "su"), `a text of 1 to ${maxCharacters} characters`);

export const integerIn =
  (minimum: number, maximum: number): Check =>
  (value, at) => {
    if (!Number.isSafeInteger(value) || (value as number) < minimum || (value as number) > maximum) {
      refuse(value, at, `an integer from ${minimum} to ${maximum}`);
    }
  };

export const exactly = (...values: readonly (string | number | boolean)[]): Check => {
  const expected = values.map((value) => JSON.stringify(value)).join(" or ");
  return (value, at) => {
    if (!values.includes(value as string)) refuse(value, at, expected);
  };
};

export const listOf =
  (check: Check, minimum: number, maximum: number): Check =>
  (value, at) => {
    if (!Array.isArray(value) || value.length < minimum || value.length > maximum) {
      refuse(value, at, `a list of ${minimum} to ${maximum} members`);
    }
    for (const [index, item] of (value as unknown[]).entries()) check(item, `${at}[${index}]`);
  };

/** Checks a number with one check and everything else with the other. */
export const numberOr =
  (number: Check, other: Check): Check =>
  (value, at) =>
    typeof value === "number" ? number(value, at) : other(value, at);

/** Checks texts and everything that is not an object with one check, objects with the other. */
export const objectOr =
  (object: Check, other: Check): Check =>
  (value, at) =>
    typeof value === "object" ? object(value, at) : other(value, at);

/** @param checks by member; the names of optional members end with a question mark */
export function objectOf(checks: Readonly<Record<string, Check>>): Check {
  const members = new Map(
    Object.entries(checks).map(([name, check]) => [
      name.replace("?", ""),
      { check, isOptional: name.endsWith("?") },
    ]),
  );
  return (value, at) => {
    const object = recordAt(value, at);
    for (const name of Object.keys(object)) {
      if (!members.has(name)) {
        throw invalid(
          at,
          `"${name.slice(0, MAX_QUOTED)}" is unknown; the members are ${[...members.keys()].join(", ")}`,
        );
      }
    }
    for (const [name, { check, isOptional }] of members) {
      if (Object.hasOwn(object, name)) check(object[name], below(at, name));
      else if (!isOptional) throw invalid(at, `"${name}" is missing`);
    }
  };
}

/** Checks an object with exactly one of the members. */
export const oneMemberOf =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value, at) => {
    const object = recordAt(value, at);
    const [name, ...others] = Object.keys(object);
    const check = name !== undefined && Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (name === undefined || check === undefined || others.length > 0) {
      return refuse(value, at, `an object with one of the members ${Object.keys(checks).join(", ")}`);
    }
    check(object[name], below(at, name));
  };

/** Checks an object whose members have names and values of one kind. */
export const recordOf =
  (name: Check, check: Check, maxMembers: number): Check =>
  (value, at) => {
    const entries = Object.entries(recordAt(value, at));
    if (entries.length === 0 || entries.length > maxMembers)
      refuse(value, at, `an object of 1 to ${maxMembers} members`);
    for (const [key, item] of entries) {
      name(key, at);
      check(item, below(at, key));
    }
  };

export function recordAt(value: unknown, at: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) refuse(value, at, "an object");
  return value as Readonly<Record<string, unknown>>;
}

const below = (at: string, name: string): string => (at === "" ? name : `${at}.${name}`);
