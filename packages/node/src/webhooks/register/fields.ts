/** Reads the definition of a webhook from a request (webhooks.md 3). */
import { isIP } from "node:net";
import * as expected from "../../platform/text/wording.ts";
import {
  CONDITIONS_HINT,
  integer,
  invalid,
  oneOf,
  type Readers,
  readMembers,
  required,
  SUBSCRIPTION_READERS,
} from "../../subscriptions/fields.ts";
import { hostOf, isNatsTarget, NATS_TARGET_FORM, parseNatsTarget } from "../model/targets.ts";
import { checkEvents, type WebhookFields } from "../model/webhook.ts";
import type { WebhookOptions } from "../options.ts";

const MAX_TARGET_LENGTH = 2_048;
const MAX_NAME_LENGTH = 100;
/** Control characters, and marks that change the direction or the lines of a text. */
const CONTROL = /[\p{Cc}\p{Cf}\u2028\u2029]/u;
/** Control characters, which the URL parser removes or encodes. */
const URL_CONTROL = /\p{Cc}/u;
/** Maximum of confirmations: the depth to which the chain can be reverted. */
const MAX_CONFIRMATIONS = 10_000;

export const FIELD_READERS: Readers<WebhookFields> = {
  ...SUBSCRIPTION_READERS,
  name: readName,
  target: targetFrom,
  enabled: readSwitch,
  order: oneOf("parallel", "strict"),
  confirmations: integer(0, MAX_CONFIRMATIONS),
  proof: readSwitch,
};

/** Handling of pending deliveries when a webhook is updated. */
type QueueChoice = "keep" | "drop";

const QUEUE: Readers<{ queue: QueueChoice }> = { queue: oneOf("keep", "drop") };

export type NewWebhook = WebhookFields & {
  /** True to send the target a ping before any other delivery (webhooks.md 10 point 9). */
  readonly ping: boolean;
};

export const NEW_WEBHOOK_READERS: Readers<NewWebhook & { queue: QueueChoice }> = {
  ...FIELD_READERS,
  ...QUEUE,
  ping: readSwitch,
};

/**
 * Reads a new webhook from a parsed body.
 *
 * @throws {SubscriptionError}
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
    conditions: requiredConditions(conditions),
    match: rest.match ?? "any",
    order: rest.order ?? "parallel",
    confirmations: rest.confirmations ?? 0,
    proof: rest.proof ?? false,
    name: rest.name ?? null,
    ping: rest.ping ?? false,
  };
}

const CHANGE_READERS: Readers<WebhookFields & { queue: QueueChoice }> = {
  ...FIELD_READERS,
  ...QUEUE,
  // Null leaves the webhook with the names and patterns of its "events".
  event: (value) => (value === null ? null : SUBSCRIPTION_READERS.event(value)),
};

/**
 * Reads the fields of a body, each optional, and whether pending deliveries are dropped.
 *
 * @throws {SubscriptionError}
 */
export function readChanges(body: unknown): { changes: Partial<WebhookFields>; isDropping: boolean } {
  const { queue, ...changes } = readMembers(body, CHANGE_READERS);
  return { changes, isDropping: queue === "drop" };
}

/** @throws {SubscriptionError} if the conditions are missing */
export function requiredConditions(conditions: string | undefined): string {
  if (conditions !== undefined) return conditions;
  throw invalid(`"conditions" ${expected.REQUIRED}; ${CONDITIONS_HINT}`, "MISSING_MEMBER");
}

/** Reads a name; null and an empty text remove the name. */
function readName(value: unknown): string | null {
  if (value === null || value === "") return null;
  if (typeof value === "string" && value.length <= MAX_NAME_LENGTH && !CONTROL.test(value)) return value;
  throw invalid(`"name" must be a single-line string of at most ${MAX_NAME_LENGTH} characters, or null`);
}

function targetFrom(value: unknown): string {
  if (typeof value !== "string") throw invalid('"target" must be a string');
  if (value.length > MAX_TARGET_LENGTH) {
    throw invalid(`"target" must not be longer than ${MAX_TARGET_LENGTH} characters`);
  }
  if (URL_CONTROL.test(value)) throw invalid('"target" must not have control characters');
  if (isNatsTarget(value)) {
    if (parseNatsTarget(value) === undefined)
      throw invalid(`"target" must have the form ${NATS_TARGET_FORM}`);
    return value;
  }
  // The URL parser is too lenient: the text must have a host, and nothing before it.
  const [, host] = /^https?:\/\/([^/?#\\\s@]+)(?:[/?#][^\s\\]*)?$/i.exec(value) ?? [];
  // Nothing can listen on port 0.
  if (host === undefined || !URL.canParse(value) || new URL(value).port === "0") {
    throw invalid(
      `"target" must be an absolute http or https URL without user name and password, such as "https://receiver.example/hook", or ${NATS_TARGET_FORM}`,
    );
  }
  return value;
}

/** Reads a boolean, or its text in any letter case. */
function readSwitch(value: unknown, name: string): boolean {
  const text = typeof value === "string" ? value.toLowerCase() : value;
  if (text === true || text === "true") return true;
  if (text === false || text === "false") return false;
  throw invalid(`"${name}" ${expected.mustBe(expected.BOOLEAN)}`);
}

/** Names are only checked by the guard of deliveries. */
export type TargetOptions = Pick<WebhookOptions, "isTargetAddress">;

/** A target without a webhook, and the text to send to it; absent: a ping. */
export type Trial = { readonly target: string; readonly body?: string };

const TRIAL_READERS: Readers<Required<Trial>> = { target: FIELD_READERS.target, body: readText };

/**
 * Reads what to send to a target without a webhook.
 *
 * @throws {SubscriptionError}
 */
export function readTrial(options: TargetOptions, given: unknown): Trial {
  const { target, ...rest } = readMembers(given, TRIAL_READERS);
  const trial = { target: required(target, "target"), ...rest };
  checkTarget(options, trial.target);
  return trial;
}

function readText(value: unknown, name: string): string {
  if (typeof value === "string") return value;
  throw invalid(`"${name}" ${expected.mustBe("a string")}`);
}

/**
 * Refuses a target that the guard would refuse at every delivery.
 *
 * @throws {SubscriptionError}
 */
export function checkTarget({ isTargetAddress }: TargetOptions, target: string): void {
  const address = addressIn(target);
  if (address !== undefined && !isTargetAddress(address)) {
    throw invalid(
      `"target" must not be the address ${address}, which is not public: see --webhook-private-targets and --webhook-allow`,
      "TARGET_REFUSED",
    );
  }
}

/** Returns the address in a URL; undefined for a name other than that of this machine. */
function addressIn(target: string): string | undefined {
  const host = hostOf(target);
  if (host === "localhost") return "127.0.0.1";
  return isIP(host) === 0 ? undefined : host;
}
