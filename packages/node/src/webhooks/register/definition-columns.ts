/** Columns of a webhook's definition: the databases have the same, except that flags of SQLite are 0 and 1. */
import type { Webhook, WebhookFields } from "../model/webhook.ts";

/** Value of `active_after` until the creation of a webhook is complete. */
export const NOT_YET = Number.MAX_SAFE_INTEGER;

export const DEFINITION_COLUMNS =
  "event, events, target, enabled, conditions, match_all, strict, confirmations, with_proof, name";

export type DefinitionRow<Flag> = {
  event: string | null;
  events: string;
  target: string;
  enabled: Flag;
  conditions: string;
  match_all: Flag;
  strict: Flag;
  confirmations: number;
  with_proof: Flag;
  name: string | null;
};

/** Returns the values in the order of `DEFINITION_COLUMNS`. */
export const definitionValues = (fields: WebhookFields): (string | number | boolean | null)[] => [
  fields.event,
  JSON.stringify(fields.events),
  fields.target,
  fields.enabled,
  fields.conditions,
  fields.match === "all",
  fields.order === "strict",
  fields.confirmations,
  fields.proof,
  fields.name ?? null,
];

export const definitionFromRow = (
  id: number,
  row: DefinitionRow<boolean | number>,
): WebhookFields & Pick<Webhook, "id"> => ({
  id,
  event: row.event,
  events: JSON.parse(row.events),
  target: row.target,
  enabled: Boolean(row.enabled),
  conditions: row.conditions,
  match: row.match_all ? "all" : "any",
  order: row.strict ? "strict" : "parallel",
  confirmations: row.confirmations,
  proof: Boolean(row.with_proof),
  ...(row.name !== null && { name: row.name }),
});
