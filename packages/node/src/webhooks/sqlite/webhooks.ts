/** The register of webhooks as rows, with their aliases (webhooks.md W-03). */

import { subscribedNames } from "../../events/catalogue.ts";
import { present } from "../../platform/present.ts";
import type { Database } from "../../store/engine/database.ts";
import type { ActiveWebhook, Webhook, WebhookFields } from "../model/webhook.ts";
import {
  DEFINITION_COLUMNS,
  type DefinitionRow,
  definitionFromRow,
  definitionValues,
  NOT_YET,
} from "../register/definition-columns.ts";
import type { RegisterRows, WebhookAliases } from "../register/rows.ts";
import { ownerOf, PLAIN_SECRETS, type SecretCipher, type SecretRow, secretsFromRow } from "../secrets.ts";
import type { Sync } from "./sql.ts";

export type WebhookStore = Sync<RegisterRows> & {
  ids(): number[];
  /** Returns the size of the conditions of all webhooks, except one. */
  conditionsBytes(except?: number): number;
  /** Returns the number of pending deliveries of the webhook. */
  queued(id: number): number;
  /** Inserts a webhook, which receives nothing until it is activated. */
  insert(fields: WebhookFields, token: string): Webhook;
  activate(id: number, after: number): void;
  /**
   * Replaces the definition; id and token stay, the failure count is reset. The webhook receives the events after `after`;
   * undefined: as before.
   */
  replace(id: number, fields: WebhookFields, after: number | undefined): void;
  /** Sets a new token; the current one stays valid until a time. */
  rotate(id: number, token: string, untilMs: number): void;
  /** Removes the webhook; returns `false` if it is unknown. */
  remove(id: number): boolean;
  /** Returns a number that changes whenever the active webhooks may have changed. */
  version(): number;
  active(): ActiveWebhook[];
  /** Activates webhooks that a crash left between the two steps of their creation. */
  activateWaiting(after: number): void;
  /** Returns the names of events that the log must keep for the active webhooks. */
  eventNames(): Set<string>;
  /** Returns the current target of a webhook; undefined if it was removed. */
  targetOf(id: number): string | undefined;
  /** Takes the sequence of the next delivery of the webhook; sequences have no gaps. */
  nextSequence(id: number): number;
};

type WebhookRow = DefinitionRow<number> &
  SecretRow & { id: number; suspended: string | null; suspended_ms: number | null };

/** A webhook with its running replay, if any. */
type ListedRow = WebhookRow & {
  from_height: number | null;
  to_height: number | null;
  next_height: number | null;
};

/** @param cipher cipher of the secrets; only needed to read or write them */
export function createWebhookStore(database: Database, cipher: SecretCipher = PLAIN_SECRETS): WebhookStore {
  const reads = createReads(database, cipher);
  return { ...reads, ...createWrites(database, cipher, reads.find) };
}

type Writes = Pick<
  WebhookStore,
  "insert" | "activate" | "activateWaiting" | "replace" | "rotate" | "remove" | "nextSequence"
>;
type Reads = Omit<WebhookStore, keyof Writes>;

function createReads(database: Database, cipher: SecretCipher): Reads {
  const count = database.prepare<{ total: number }>("SELECT count(*) AS total FROM webhooks");
  // SQLite stores the length in the row header, and does not read the conditions themselves.
  const conditionsBytes = database.prepare<{ bytes: number }>(
    "SELECT coalesce(sum(octet_length(conditions)), 0) AS bytes FROM webhooks WHERE id <> ?",
  );
  const ids = database.prepare<{ id: number }>("SELECT id FROM webhooks ORDER BY id");
  const listed = "SELECT * FROM webhooks LEFT JOIN running_replays ON webhook = id";
  const page = database.prepare<ListedRow>(`${listed} ORDER BY id LIMIT +? OFFSET +?`);
  const find = database.prepare<ListedRow>(`${listed} WHERE id = +?`);
  const twin = database.prepare<{ id: number }>(
    `SELECT id FROM webhooks WHERE target = ? AND event IS ? AND events = ? AND conditions = ? AND match_all = ?
       AND enabled = 1 AND id <> ? ORDER BY id LIMIT 1`,
  );
  const active = database.prepare<WebhookRow & { active_after: number }>(
    "SELECT * FROM webhooks WHERE enabled = 1 AND suspended IS NULL ORDER BY id",
  );
  const version = database.prepare<{ version: number }>("SELECT version FROM webhook_register");
  const targetOf = database.prepare<{ target: string }>("SELECT target FROM webhooks WHERE id = ?");
  const queued = database.prepare<{ queued: number }>(
    "SELECT waiting + retrying + replaying AS queued FROM queues WHERE webhook = ?",
  );
  return {
    count: () => count.get()?.total ?? 0,
    conditionsBytes: (except = 0) => conditionsBytes.get(except)?.bytes ?? 0,
    ids: () => ids.all().map(({ id }) => id),
    page: ({ offset, limit }) => page.all(limit, offset).map((row) => webhookFromRow(row, cipher)),
    find(id) {
      const row = find.get(id);
      return row && webhookFromRow(row, cipher);
    },
    twinOf: ({ id, target, event, events, conditions, match }) =>
      twin.get(target, event, JSON.stringify(events), conditions, Number(match === "all"), id)?.id,
    version: () => present(version.get(), "the row of the register").version,
    active: () =>
      active.all().map((row) => ({ ...definitionFromRow(row.id, row), activeAfter: row.active_after })),
    eventNames: createEventNames(database),
    targetOf: (id) => targetOf.get(id)?.target,
    queued: (id) => queued.get(id)?.queued ?? 0,
  };
}

function createEventNames(database: Database): () => Set<string> {
  const subscribed = database.prepare<{ event: string | null; events: string }>(
    "SELECT DISTINCT event, events FROM webhooks WHERE enabled = 1 AND suspended IS NULL",
  );
  const any = database.prepare("SELECT 1 FROM webhooks LIMIT 1");
  const confirming = database.prepare(
    `SELECT 1 FROM webhooks WHERE enabled = 1 AND suspended IS NULL
     AND (confirmations > 0 OR EXISTS (SELECT 1 FROM unconfirmed_events WHERE webhook = webhooks.id)) LIMIT 1`,
  );
  return () => {
    const given = subscribed.all().flatMap(({ event, events }) => [event, ...JSON.parse(events)]);
    const names = new Set(subscribedNames(given.filter((name) => name !== null)).keys());
    // A target that received a fact, under any definition, must receive its retraction.
    if (any.get()) names.add("block.reverted");
    // Confirmations are counted in applied blocks.
    if (confirming.get()) names.add("block.applied");
    return names;
  };
}

function createWrites(database: Database, cipher: SecretCipher, find: WebhookStore["find"]): Writes {
  // The secret is written afterwards, because it is encrypted for the id.
  const insert = database.prepare<{ id: number }>(
    `INSERT INTO webhooks (${DEFINITION_COLUMNS}, token, active_after)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?) RETURNING id`,
  );
  const setToken = database.prepare("UPDATE webhooks SET token = ? WHERE id = ?");
  const activate = database.prepare("UPDATE webhooks SET active_after = ? WHERE id = ?");
  const activateWaiting = database.prepare("UPDATE webhooks SET active_after = ? WHERE active_after = ?");
  const replace = database.prepare(
    `UPDATE webhooks SET event = ?, events = ?, target = ?, enabled = ?, conditions = ?, match_all = ?, strict = ?,
     confirmations = ?, with_proof = ?, name = ?, active_after = coalesce(?, active_after),
     target_number = iif(target = ?, target_number, target_number + 1),
     failures = 0, failing_since_ms = NULL, suspended = NULL, suspended_ms = NULL WHERE id = ?`,
  );
  const rotate = database.prepare(
    "UPDATE webhooks SET previous_token = token, previous_until_ms = ?, token = ? WHERE id = ?",
  );
  const remove = database.prepare("DELETE FROM webhooks WHERE id = ?");
  const markRemoved = database.prepare("INSERT INTO removed_webhooks VALUES (?)");
  const nextSequence = database.prepare<{ sequence: number }>(
    "UPDATE queues SET last_sequence = last_sequence + 1 WHERE webhook = ? RETURNING last_sequence AS sequence",
  );
  return {
    insert: (fields, token) =>
      database.transaction(() => {
        const { id } = present(insert.get(...valuesOf(fields), NOT_YET), "the inserted row");
        setToken.run(cipher.encrypt(token, ownerOf(id)), id);
        return present(find(id), "the inserted webhook");
      }),
    activate: (id, after) => void activate.run(after, id),
    activateWaiting: (after) => void activateWaiting.run(after, NOT_YET),
    replace: (id, fields, after) => void replace.run(...valuesOf(fields), after ?? null, fields.target, id),
    rotate: (id, token, untilMs) => void rotate.run(untilMs, cipher.encrypt(token, ownerOf(id)), id),
    remove: (id) =>
      database.transaction(() => {
        if (remove.run(id).changes === 0) return false;
        markRemoved.run(id);
        return true;
      }),
    nextSequence: (id) => present(nextSequence.get(id), "the row of a queue").sequence,
  };
}

export type WebhookAliasStore = Sync<WebhookAliases> & { add(alias: string, webhook: number): void };

export function createWebhookAliases(database: Database): WebhookAliasStore {
  const find = database.prepare<{ webhook: number }>("SELECT webhook FROM webhook_aliases WHERE alias = ?");
  const insert = database.prepare("INSERT INTO webhook_aliases VALUES (?, ?)");
  const all = database.prepare<{ webhook: number }>(
    "SELECT DISTINCT webhook FROM webhook_aliases ORDER BY webhook",
  );
  return {
    idOf: (alias) => find.get(alias)?.webhook,
    add: (alias, webhook) => void insert.run(alias, webhook),
    webhooks: () => all.all().map(({ webhook }) => webhook),
  };
}

/** Returns the values in the order of `DEFINITION_COLUMNS`; flags are 0 or 1. */
const valuesOf = (fields: WebhookFields): (string | number | null)[] =>
  definitionValues(fields).map((value) => (typeof value === "boolean" ? Number(value) : value));

const webhookFromRow = (row: ListedRow, cipher: SecretCipher): Webhook => ({
  ...definitionFromRow(row.id, row),
  secrets: secretsFromRow(row.id, row, cipher),
  ...(row.suspended !== null && { suspended: { reason: row.suspended, sinceMs: row.suspended_ms ?? 0 } }),
  ...(row.from_height !== null &&
    row.to_height !== null &&
    row.next_height !== null && {
      replay: { fromHeight: row.from_height, toHeight: row.to_height, nextHeight: row.next_height },
    }),
});
