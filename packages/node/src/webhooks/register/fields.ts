/** Reads what a user says about a webhook (webhooks.md 3). */
import { isEventName } from "../../events/catalogue.ts";
import { isEventPattern } from "../../events/names.ts";
import type { WebhookFields } from "../../store/webhooks.ts";
import { integer, invalid, oneOf, type Readers, readMembers, readObject, required } from "../body.ts";
import type { Condition } from "../conditions/conditions.ts";
import { OperandError } from "../conditions/error.ts";
import { isOperatorName, isUnary, operators } from "../conditions/operators.ts";
import { compilePattern } from "../conditions/pattern.ts";

const MAX_TARGET_LENGTH = 2_048;
const MAX_CONDITIONS = 50;
const MAX_EVENTS = 50;
/** As deep as the chain can go back. */
const MAX_CONFIRMATIONS = 10_000;
const MAX_KEY_LENGTH = 256;
const MAX_VALUE_BYTES = 4_096;
/** Instructions of all compiled patterns of one subscriber; those of one take 13 ms on a text of 255 characters at most. */
const MAX_PATTERNS_SIZE = 1_024;

/** How each field is read. */
export const FIELD_READERS: Readers<WebhookFields> = {
  event: readEvent,
  events: readEvents,
  target: readTarget,
  enabled: readSwitch,
  conditions: readConditions,
  match: oneOf("any", "all"),
  order: oneOf("parallel", "strict"),
  confirmations: integer(0, MAX_CONFIRMATIONS),
};

export type NewWebhook = WebhookFields & {
  /** Whether the target is sent a ping before anything else (webhooks.md 10 point 9). */
  readonly ping: boolean;
};

/** How the members of a registration are read. */
export const NEW_WEBHOOK_READERS: Readers<NewWebhook> = { ...FIELD_READERS, ping: readSwitch };

/**
 * A new webhook from a parsed body.
 *
 * @throws {WebhookError} WEBHOOK_INVALID
 */
export function readNewWebhook(body: unknown): NewWebhook {
  const given = readMembers(body, NEW_WEBHOOK_READERS);
  const { event = null, events = [], target, enabled = true, conditions, ...rest } = given;
  checkEvents({ event, events });
  return {
    event,
    events,
    target: required(target, "target"),
    enabled,
    conditions: required(conditions, "conditions"),
    match: rest.match ?? "any",
    order: rest.order ?? "parallel",
    confirmations: rest.confirmations ?? 0,
    ping: rest.ping ?? false,
  };
}

/**
 * All the names and patterns of a webhook.
 *
 * @throws {WebhookError} WEBHOOK_INVALID when there are none
 */
export function checkEvents({ event, events }: Pick<WebhookFields, "event" | "events">): readonly string[] {
  if (event !== null) return [event, ...events];
  if (events.length === 0) throw invalid('"event" is required');
  return events;
}

/**
 * The fields that a body gives, each optional.
 *
 * @throws {WebhookError} WEBHOOK_INVALID
 */
export const readChanges = (body: unknown): Partial<WebhookFields> => readMembers(body, FIELD_READERS);

function readEvent(value: unknown): string {
  if (typeof value !== "string" || !isEventName(value)) throw invalid('"event" must be the name of an event');
  return value;
}

/** Names and patterns; null is none. */
function readEvents(value: unknown): string[] {
  if (value === null) return [];
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_EVENTS) {
    throw invalid(`"events" must be an array of 1 to ${MAX_EVENTS} items, or null`);
  }
  const wrong = value.findIndex(
    (item) => typeof item !== "string" || !(isEventName(item) || isEventPattern(item)),
  );
  if (wrong !== -1) {
    throw invalid(
      `"events" at position ${wrong} must be the name of an event, or a pattern such as "transaction.*"`,
    );
  }
  return value as string[];
}

function readTarget(value: unknown): string {
  if (typeof value !== "string") throw invalid('"target" must be a string');
  if (value.length > MAX_TARGET_LENGTH) {
    throw invalid(`"target" must not be longer than ${MAX_TARGET_LENGTH} characters`);
  }
  // The URL parser forgives much; the text has to show its host, and nothing before it.
  const [, host] = /^https?:\/\/([^/?#\\\s@]+)(?:[/?#][^\s\\]*)?$/i.exec(value) ?? [];
  if (host === undefined || !URL.canParse(value)) {
    throw invalid('"target" must be an absolute http or https URL without user and password');
  }
  return value;
}

/** A typed string, in any letter case, or the JSON value. */
function readSwitch(value: unknown, name: string): boolean {
  const text = typeof value === "string" ? value.toLowerCase() : value;
  if (text === true || text === "true") return true;
  if (text === false || text === "false") return false;
  throw invalid(`"${name}" must be "true" or "false"`);
}

function readConditions(value: unknown): string {
  if (!Array.isArray(value)) throw invalid('"conditions" must be an array');
  if (value.length === 0) throw invalid('"conditions" must not be empty');
  if (value.length > MAX_CONDITIONS) {
    throw invalid(`"conditions" must not have more than ${MAX_CONDITIONS} items`);
  }
  let size = 0;
  const read = value.map((item, index) => {
    const condition = readCondition(item, index);
    // Those behind the bound are not even compiled.
    size += compiledSize(condition, index);
    if (size > MAX_PATTERNS_SIZE) {
      throw invalid(
        `"conditions" must not have more than ${MAX_PATTERNS_SIZE} instructions in all their patterns together`,
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
    throw invalid(`${at}: "condition" must be one of ${Object.keys(operators).join(", ")}`);
  }
  const unknown = Object.keys(rest).find((name) => name !== "value");
  if (unknown !== undefined) throw invalid(`${at}: "${unknown}" is not allowed`);
  const hasValue = Object.hasOwn(rest, "value");
  if (!hasValue && !isUnary(condition)) throw invalid(`${at}: "value" is required`);
  if (sizeOf(rest.value) > MAX_VALUE_BYTES) {
    throw invalid(`${at}: "value" must not be larger than ${MAX_VALUE_BYTES} bytes`);
  }
  return { key, condition, ...(hasValue && { value: rest.value }) };
}

/** Instructions of the pattern, if it has one. */
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

/** Of a text its own size, of everything else that of its JSON. */
function sizeOf(value: unknown): number {
  try {
    return Buffer.byteLength(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  } catch {
    // Nested too deeply to be written.
    return Number.POSITIVE_INFINITY;
  }
}
