/**
 * Reads the subscription of a webhook or a live stream: events, and conditions on their content (webhooks.md 3). A body is read
 * member by member: known names only, each with its own reader.
 */
import { EVERY_EVENT } from "@uniknode/client/every-event";
import { EVENTS, isEventName, isEventPattern } from "../events/catalogue.ts";
import * as expected from "../platform/text/wording.ts";
import { similarNames } from "../platform/text/wording.ts";
import type { Condition } from "./conditions/conditions.ts";
import { isOperatorName, isUnary, operators } from "./conditions/operators.ts";
import { compilePattern } from "./conditions/pattern.ts";
import { OperandError, SubscriptionError, type SubscriptionErrorCode } from "./subscription-error.ts";

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

/** End of an error about missing conditions. */
export const CONDITIONS_HINT = `[${JSON.stringify(EVERY_EVENT)}] is true for every event`;
const MAX_CONDITIONS = 50;
const MAX_EVENTS = 50;
const MAX_KEY_LENGTH = 256;
const MAX_VALUE_BYTES = 4_096;
/** Maximum instructions of all patterns of one subscriber: at most 13 ms on a text of 255 characters. */
const MAX_PATTERNS_SIZE = 1_024;

/** Readers of the members of a subscription; each throws a `SubscriptionError` that names the member. */
export const SUBSCRIPTION_READERS = {
  event: readEvent,
  events: readEvents,
  /** Returns the JSON text of the conditions. */
  conditions: readConditions,
  match: oneOf("any", "all"),
};

function readEvent(value: unknown): string {
  if (typeof value !== "string") throw invalid('"event" must be a string: the name of an event');
  if (value.includes("*")) {
    const shown = JSON.stringify(value.slice(0, MAX_SHOWN_LENGTH));
    throw invalid(
      `"event" must be the name of one event; "events" takes patterns: [${shown}]`,
      "UNKNOWN_EVENT",
    );
  }
  if (!isEventName(value)) throw unknownEvent('"event"', value);
  return value;
}

/** Reads names and patterns; null is an empty list. */
function readEvents(value: unknown): string[] {
  if (value === null) return [];
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_EVENTS) {
    throw invalid(`"events" must be an array of 1 to ${MAX_EVENTS} items, or null`);
  }
  for (const [index, item] of value.entries()) {
    const at = `"events" at position ${index}`;
    if (typeof item !== "string") throw invalid(`${at} must be a string: the name of an event, or a pattern`);
    if (!isEventName(item) && !isEventPattern(item)) throw unknownEvent(at, item);
  }
  return value as string[];
}

/** Maximum number of suggestions for a mistyped event name. */
const MAX_SUGGESTIONS = 3;
const MAX_SHOWN_LENGTH = 64;

function unknownEvent(at: string, name: string) {
  const suggestions = similarNames(name, Object.keys(EVENTS))
    .slice(0, MAX_SUGGESTIONS)
    .map((known) => `"${known}"`);
  const hint = suggestions.length === 0 ? "" : `; did you mean ${suggestions.join(" or ")}?`;
  return invalid(
    `${at}: unknown event "${name.slice(0, MAX_SHOWN_LENGTH)}"${hint || "."} "events" also takes patterns, such as ["transaction.*"]; /documentation#/Webhooks/createWebhook lists all names`,
    "UNKNOWN_EVENT",
  );
}

function readConditions(value: unknown): string {
  if (!Array.isArray(value)) throw invalid('"conditions" must be an array');
  if (value.length === 0) {
    throw invalid(`"conditions" must not be empty; ${CONDITIONS_HINT}`);
  }
  if (value.length > MAX_CONDITIONS) {
    throw invalid(`"conditions" must not have more than ${MAX_CONDITIONS} items`);
  }
  let size = 0;
  const read = value.map((item, index) => {
    const condition = readCondition(item, index);
    // Patterns beyond the bound are not compiled.
    size += compiledSize(condition, index);
    if (size > MAX_PATTERNS_SIZE) {
      throw invalid(
        `"conditions" must not have more than ${MAX_PATTERNS_SIZE} instructions in all patterns together`,
      );
    }
    return condition;
  });
  return JSON.stringify(read);
}

function readCondition(item: unknown, index: number): Condition {
  const at = `"conditions" at position ${index}`;
  const { key, condition, ...rest } = readObject(item, at);
  if (typeof key !== "string" || key === "" || key.length > MAX_KEY_LENGTH) {
    throw invalid(`${at}: "key" must be a string of 1 to ${MAX_KEY_LENGTH} characters`);
  }
  if (typeof condition !== "string" || !isOperatorName(condition)) {
    throw invalid(`${at}: "condition" ${expected.mustBe(expected.oneOf(Object.keys(operators)))}`);
  }
  const unknown = Object.keys(rest).find((name) => name !== "value");
  if (unknown !== undefined) {
    const reason = expected.notAllowed(unknown, ["key", "condition", "value"]);
    throw invalid(`${at}: "${unknown}" ${reason}`, "UNKNOWN_MEMBER");
  }
  const hasValue = Object.hasOwn(rest, "value");
  if (!hasValue && !isUnary(condition)) {
    throw invalid(`${at}: "value" ${expected.REQUIRED}`, "MISSING_MEMBER");
  }
  if (sizeOf(rest.value) > MAX_VALUE_BYTES) {
    throw invalid(`${at}: "value" must not be larger than ${MAX_VALUE_BYTES} bytes`);
  }
  return { key, condition, ...(hasValue && { value: rest.value }) };
}

/** Returns the instructions of the condition's pattern; 0 without a pattern. */
function compiledSize({ condition, value }: Condition, index: number): number {
  try {
    if (condition === "regexp") return compilePattern(value).size;
    operators[condition](value);
    return 0;
  } catch (error) {
    if (error instanceof OperandError)
      throw invalid(`"conditions" at position ${index}: "value" ${error.message}`);
    throw error;
  }
}

/** Returns the size of a text, or of the JSON of any other value. */
function sizeOf(value: unknown): number {
  try {
    return Buffer.byteLength(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  } catch {
    // It is nested too deeply to serialise.
    return Number.POSITIVE_INFINITY;
  }
}
