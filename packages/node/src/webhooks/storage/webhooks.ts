/** The register of webhooks as rows, with their aliases (webhooks.md W-03). */
import { subscribedNames } from "../../events/catalogue.ts";
import { present } from "../../platform/present.ts";
import { WebhookError } from "../error.ts";
import type { ActiveWebhook, Webhook, WebhookFields } from "../model/webhook.ts";
import { ownerOf, type SecretCipher, type SecretRow, secretsFromRow } from "../secrets.ts";
import { bumpVersion } from "./locks.ts";
import { isOwned } from "./shards.ts";
import type { Flag, Kind, Reads, Sql, Steps } from "./sql.ts";

/** Value of `active_after` until the creation of a webhook is complete. */
export const NOT_YET = Number.MAX_SAFE_INTEGER;

/** SQL condition for webhooks that clients see: the token of others was not returned, and may never be. */
export const IS_REGISTERED = `active_after < ${NOT_YET}`;

export const DEFINITION_COLUMNS =
  "event, events, target, enabled, conditions, match_all, strict, confirmations, with_proof, name";

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

type DefinitionRow = {
  id: number;
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

/** A webhook with its running replay, if any. */
export type WebhookRow = DefinitionRow &
  SecretRow & {
    suspended: string | null;
    suspended_ms: number | null;
    from_height: number | null;
    to_height: number | null;
    next_height: number | null;
  };

export const LISTED = `SELECT webhooks.*, from_height, to_height, next_height
  FROM webhooks LEFT JOIN replays ON replays.webhook = webhooks.id AND replays.state = 'running'`;

/** SQL condition for active webhooks, of which SQLite has an index. */
const isActive = (kind: Kind): string =>
  kind === "sqlite" ? "enabled = 1 AND suspended IS NULL" : "enabled AND suspended IS NULL";

/** Aliases are removed with the webhook. */
export function* findAlias(sql: Reads, alias: string): Steps<number | undefined> {
  const row = yield* sql.row<{ webhook: number }>("SELECT webhook FROM webhook_aliases WHERE alias = $1", [
    alias,
  ]);
  return row?.webhook;
}

/** @param lock no other transaction can change the webhook until the end of this one; rows that refer to it can be inserted */
export function* findWebhook(
  sql: Reads,
  cipher: SecretCipher,
  id: number,
  lock: "" | "FOR NO KEY UPDATE OF webhooks" = "",
): Steps<Webhook | undefined> {
  const row = yield* sql.row<WebhookRow>(`${LISTED} WHERE id = $1 ${lock}`, [id]);
  return row && webhookFromRow(row, cipher);
}

/** Inserts a webhook, which receives nothing until it is activated. */
export function* insertWebhook(
  sql: Sql,
  cipher: SecretCipher,
  fields: WebhookFields,
  token: string,
): Steps<Webhook> {
  // The secret is written afterwards, because it is encrypted for the id.
  const row = yield* sql.row<{ id: number }>(
    `INSERT INTO webhooks (${DEFINITION_COLUMNS}, token, active_after)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '', $11) RETURNING id`,
    [...definitionValues(fields), NOT_YET],
  );
  const { id } = present(row, "the inserted row");
  // A trigger of SQLite has inserted it.
  yield* sql.change("INSERT INTO queues (webhook) VALUES ($1) ON CONFLICT DO NOTHING", [id]);
  yield* sql.change("UPDATE webhooks SET token = $2 WHERE id = $1", [id, cipher.encrypt(token, ownerOf(id))]);
  return present(yield* findWebhook(sql, cipher, id), "the inserted webhook");
}

/** Activates webhooks that a crash of their process left between the two steps of their creation. */
export function* activateWaiting(sql: Sql, after: number): Steps<void> {
  yield* bumpVersion(sql);
  yield* sql.change("UPDATE webhooks SET active_after = $1 WHERE active_after = $2", [after, NOT_YET]);
}

type RegisterSize = { readonly count: number; readonly conditionsBytes: number };

/** Returns the size of the register without one webhook. */
export function* sizeOf(sql: Reads, except = 0): Steps<RegisterSize> {
  // The databases store the length of conditions, and do not read them.
  const row = yield* sql.row<RegisterSize>(
    `SELECT count(*) AS count, coalesce(sum(octet_length(conditions)), 0) AS "conditionsBytes" FROM webhooks WHERE id <> $1`,
    [except],
  );
  return row ?? { count: 0, conditionsBytes: 0 };
}

/** Maximum size of the conditions of all webhooks as JSON: 16 KiB each with a thousand webhooks. */
export const MAX_CONDITIONS_BYTES = 16 * 1_024 * 1_024;

type Addition = readonly { readonly conditions: string }[];

/** @throws {WebhookError} WEBHOOK_LIMIT if the register would have too many webhooks or conditions */
export function checkLimits(
  { count, conditionsBytes }: RegisterSize,
  added: Addition,
  webhookLimit: number,
): void {
  if (count + added.length > webhookLimit) {
    throw new WebhookError(
      "WEBHOOK_LIMIT",
      `the register cannot have more than ${webhookLimit} webhooks; remove some, or start the node with a higher --webhook-limit`,
    );
  }
  checkConditions(conditionsBytes, added);
}

/**
 * @param otherBytes size of all other conditions
 * @throws {WebhookError} WEBHOOK_LIMIT
 */
export function checkConditions(otherBytes: number, added: Addition): void {
  const addedBytes = added.reduce((sum, { conditions }) => sum + Buffer.byteLength(conditions), 0);
  if (otherBytes + addedBytes <= MAX_CONDITIONS_BYTES) return;
  throw new WebhookError(
    "WEBHOOK_LIMIT",
    `"conditions" of all webhooks together must not be larger than ${MAX_CONDITIONS_BYTES} bytes`,
  );
}

/** Returns the ids of the webhooks of shards. */
export function* idsOf(sql: Reads, shards: readonly number[]): Steps<number[]> {
  const rows = yield* sql.rows<{ id: number }>(
    `SELECT id FROM webhooks WHERE ${isOwned(sql.kind, "id", "$1")} ORDER BY id`,
    [shards],
  );
  return rows.map(({ id }) => id);
}

/** Returns the active webhooks of shards by ascending id. */
export function* activeWebhooks(sql: Reads, shards: readonly number[]): Steps<ActiveWebhook[]> {
  const rows = yield* sql.rows<DefinitionRow & { active_after: number }>(
    `SELECT id, event, events, conditions, match_all, confirmations, active_after FROM webhooks
     WHERE ${isActive(sql.kind)} AND ${isOwned(sql.kind, "id", "$1")} ORDER BY id`,
    [shards],
  );
  return rows.map(({ id, event, events, conditions, match_all, confirmations, active_after }) => ({
    ...{ id, event, conditions, confirmations },
    events: JSON.parse(events),
    match: match_all ? "all" : "any",
    activeAfter: active_after,
  }));
}

/** Returns the names of events that the log must keep for the active webhooks. */
export function* readEventNames(sql: Reads): Steps<Set<string>> {
  const active = isActive(sql.kind);
  const subscribed = yield* sql.rows<{ event: string | null; events: string }>(
    `SELECT DISTINCT event, events FROM webhooks WHERE ${active}`,
  );
  const has = yield* sql.row<{ webhooks: Flag; confirming: Flag }>(
    `SELECT EXISTS (SELECT 1 FROM webhooks) AS webhooks, EXISTS (SELECT 1 FROM webhooks WHERE ${active}
       AND (confirmations > 0 OR EXISTS (SELECT 1 FROM unconfirmed_events WHERE webhook = webhooks.id))) AS confirming`,
  );
  const given = subscribed.flatMap(({ event, events }) => [event, ...JSON.parse(events)]);
  const names = new Set(subscribedNames(given.filter((name) => name !== null)).keys());
  // A target that received a fact, under any definition, must receive its retraction.
  if (has?.webhooks) names.add("block.reverted");
  // Confirmations are counted in applied blocks.
  if (has?.confirming) names.add("block.applied");
  return names;
}

export const webhookFromRow = (row: WebhookRow, cipher: SecretCipher): Webhook => ({
  id: row.id,
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
  secrets: secretsFromRow(row.id, row, cipher),
  ...(row.suspended !== null && {
    suspended: { reason: row.suspended, sinceMs: row.suspended_ms ?? 0 },
  }),
  ...(row.from_height !== null && {
    replay: {
      fromHeight: row.from_height,
      toHeight: row.to_height ?? 0,
      nextHeight: row.next_height ?? 0,
    },
  }),
});
