/** The register file of the old node: `webhooks.json` in its cache folder (webhooks.md W-03, W-05, 10 point 1). */

import { SubscriptionError } from "../../subscriptions/error.ts";
import { invalid, type Readers, readMembers, readObject, required } from "../../subscriptions/members.ts";
import { WebhookError } from "../error.ts";
import type { WebhookFields } from "../model/webhook.ts";
import { FIELD_READERS } from "./fields.ts";

/** A webhook in the format of the old node. */
export type OldWebhook = {
  /** Its UUID in the old node. */
  readonly alias: string;
  /** The first half of the token; the old node does not store the rest. */
  readonly token: string;
  readonly fields: WebhookFields;
};

const { event, target, enabled } = FIELD_READERS;

const READERS: Readers<{
  id: string;
  token: string;
  event: WebhookFields["event"];
  target: string;
  enabled: boolean;
  conditions: string;
}> = {
  id: text(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, "a UUID"),
  token: text(/^[0-9a-f]{32}([0-9a-f]{32})?$/, "32 or 64 hexadecimal digits in lower case"),
  event,
  target,
  enabled,
  conditions: readConditions,
};

/**
 * Reads the webhooks of a parsed register file, `{"webhooks": [...]}` or the list alone.
 *
 * @param webhookLimit maximum length of the list
 * @throws {SubscriptionError} naming every entry that cannot be imported, and why
 * @throws {WebhookError} WEBHOOK_LIMIT
 */
export function readOldRegister(content: unknown, webhookLimit: number): OldWebhook[] {
  const list = Array.isArray(content) ? content : readObject(content, "the register file").webhooks;
  if (!Array.isArray(list)) throw invalid('the register file must have a list "webhooks"');
  if (list.length > webhookLimit) {
    throw new WebhookError(
      "WEBHOOK_LIMIT",
      `the register file has more than ${webhookLimit} webhooks: see --webhook-limit`,
    );
  }
  const seen = new Set<string>();
  const problems: string[] = [];
  const entries = list.flatMap((item, index) => {
    try {
      const entry = readEntry(item);
      if (seen.has(entry.alias)) throw invalid('"id" is the id of a previous entry');
      seen.add(entry.alias);
      return entry;
    } catch (error) {
      if (!(error instanceof SubscriptionError)) throw error;
      problems.push(`webhook ${index + 1} of the file: ${error.message}`);
      return [];
    }
  });
  if (problems.length > 0) throw invalid(problems.join("\n"));
  return entries;
}

function readEntry(item: unknown): OldWebhook {
  const given = readMembers(item, READERS);
  return {
    alias: required(given.id, "id"),
    token: required(given.token, "token"),
    fields: {
      event: required(given.event, "event"),
      events: [],
      target: required(given.target, "target"),
      enabled: given.enabled ?? true,
      conditions: required(given.conditions, "conditions"),
      match: "any",
      order: "parallel",
      confirmations: 0,
      proof: false,
    },
  };
}

/** The old node accepts an empty list, which is always true. */
function readConditions(value: unknown): string {
  return Array.isArray(value) && value.length === 0 ? "[]" : FIELD_READERS.conditions(value, "conditions");
}

function text(pattern: RegExp, what: string) {
  return (value: unknown, name: string): string => {
    if (typeof value === "string" && pattern.test(value)) return value;
    throw invalid(`"${name}" must be ${what}`);
  };
}
