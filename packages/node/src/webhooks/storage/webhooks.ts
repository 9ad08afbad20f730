/** The register of webhooks as rows, with their aliases (webhooks.md W-03). */
import { subscribedNames } from "../../events/catalogue.ts";
import { present } from "../../platform/present.ts";
import type { ActiveWebhook, Webhook, WebhookFields } from "../model/webhook.ts";
import { ownerOf, type SecretCipher, type SecretRow, secretsFromRow } from "../secrets.ts";
import { minuteOf, RECENT_MINUTES, stateSql, type WebhookState } from "./health.ts";
import { bumpVersion } from "./locks.ts";
import { isOwned } from "./shards.ts";
import type { Flag, Kind, Reads, Sql, Steps, Store } from "./sql.ts";

/** Value of `active_after` until the creation of a webhook is complete. */
export const NOT_YET = Number.MAX_SAFE_INTEGER;

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
type WebhookRow = DefinitionRow &
  SecretRow & {
    suspended: string | null;
    suspended_ms: number | null;
    from_height: number | null;
    to_height: number | null;
    next_height: number | null;
  };

const LISTED = `SELECT webhooks.*, from_height, to_height, next_height
  FROM webhooks LEFT JOIN replays ON replays.webhook = webhooks.id AND replays.state = 'running'`;

export type Range = { readonly offset: number; readonly limit: number };

const ORDER_FIELDS = ["id", "name", "target", "failing.since"] as const;
type OrderField = (typeof ORDER_FIELDS)[number];
export type WebhookOrder = `${OrderField}:${"asc" | "desc"}`;
export const WEBHOOK_ORDERS = ORDER_FIELDS.flatMap((field) => [`${field}:asc`, `${field}:desc`] as const);

/** State and search must both match. */
export type WebhookFilter = {
  readonly state?: WebhookState;
  /** Part of the name, the target or the names of the events, in upper or lower case. */
  readonly search?: string;
  /** Default: `id:asc`. */
  readonly orderBy?: WebhookOrder;
};

export type WebhookList = { readonly webhooks: readonly Webhook[]; readonly totalCount: number };

const IS_FAILING = `(SELECT sum(failed) > sum(succeeded) FROM attempt_counts WHERE attempt_counts.webhook = webhooks.id
    AND minute > CAST($3 AS bigint) AND minute <= CAST($4 AS bigint))`;

/** SQL condition for webhooks in the state $1 with the text $2, by their attempts after the minute $3 until $4. */
const matching = (kind: Kind): string =>
  `(CAST($1 AS text) IS NULL OR $1 = ${stateSql(IS_FAILING)}) AND (CAST($2 AS text) IS NULL
    OR ${kind === "sqlite" ? "instr" : "strpos"}(lower(concat_ws(' ', name, target, event, webhooks.events)), lower($2)) > 0)`;

/** Returns SQL for an order; webhooks without a value are last. Letters are compared as their code points, in lower case if they are ASCII. */
function orderSql(kind: Kind, order: WebhookOrder): string {
  const [field, direction] = order.split(":") as [OrderField, string];
  const text = (column: string) => `lower(${column}${kind === "sqlite" ? "" : ' COLLATE "C"'})`;
  const column = {
    ...{ id: "id", name: text("name"), target: text("target") },
    "failing.since": "CASE WHEN enabled AND suspended IS NULL THEN failing_since_ms END",
  }[field];
  return `${column} ${direction} NULLS LAST, id`;
}

/** SQL condition for active webhooks, of which SQLite has an index. */
const isActive = (kind: Kind): string =>
  kind === "sqlite" ? "enabled = 1 AND suspended IS NULL" : "enabled AND suspended IS NULL";

export class WebhookRows {
  readonly #store: Store;
  readonly #cipher: SecretCipher;

  constructor(store: Store, cipher: SecretCipher) {
    this.#store = store;
    this.#cipher = cipher;
  }

  count(): Promise<number> {
    return this.#store.read(function* (sql) {
      const row = yield* sql.row<{ total: number }>("SELECT count(*) AS total FROM webhooks");
      return row?.total ?? 0;
    });
  }

  /** Returns webhooks by ascending id. */
  page({ offset, limit }: Range): Promise<readonly Webhook[]> {
    const cipher = this.#cipher;
    return this.#store.read(function* (sql) {
      const rows = yield* sql.rows<WebhookRow>(`${LISTED} ORDER BY id LIMIT $1 OFFSET $2`, [limit, offset]);
      return rows.map((row) => webhookFromRow(row, cipher));
    });
  }

  /** Returns a page of the webhooks that match, and the number of all of them. */
  search(
    { state, search, orderBy = "id:asc" }: WebhookFilter,
    { offset, limit }: Range,
    nowMs: number,
  ): Promise<WebhookList> {
    const cipher = this.#cipher;
    return this.#store.read(function* (sql) {
      const minute = minuteOf(nowMs);
      const filter = [state ?? null, search ?? null, minute - RECENT_MINUTES, minute];
      const where = `WHERE ${matching(sql.kind)}`;
      const rows = yield* sql.rows<WebhookRow>(
        `${LISTED} ${where} ORDER BY ${orderSql(sql.kind, orderBy)} LIMIT $5 OFFSET $6`,
        [...filter, limit, offset],
      );
      const counted = yield* sql.row<{ total: number }>(
        `SELECT count(*) AS total FROM webhooks ${where}`,
        filter,
      );
      return {
        webhooks: rows.map((row) => webhookFromRow(row, cipher)),
        totalCount: counted?.total ?? 0,
      };
    });
  }

  find(id: number): Promise<Webhook | undefined> {
    return this.#store.read((sql) => findWebhook(sql, this.#cipher, id));
  }

  /** Returns the lowest id of another enabled webhook with the same target, events and conditions. */
  twinOf({ id, target, event, events, conditions, match }: Webhook): Promise<number | undefined> {
    return this.#store.read(function* (sql) {
      const row = yield* sql.row<{ id: number }>(
        `SELECT id FROM webhooks WHERE target = $1 AND event IS NOT DISTINCT FROM $2 AND events = $3 AND conditions = $4
           AND match_all = $5 AND enabled AND id <> $6 ORDER BY id LIMIT 1`,
        [target, event, JSON.stringify(events), conditions, match === "all", id],
      );
      return row?.id;
    });
  }

  idOf(alias: string): Promise<number | undefined> {
    return this.#store.read((sql) => findAlias(sql, alias));
  }

  /** Returns the webhooks that have an alias, by ascending id. */
  withAlias(): Promise<readonly number[]> {
    return this.#store.read(function* (sql) {
      const rows = yield* sql.rows<{ webhook: number }>(
        "SELECT DISTINCT webhook FROM webhook_aliases ORDER BY webhook",
      );
      return rows.map(({ webhook }) => webhook);
    });
  }
}

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

/** Returns the size of the register without one webhook. */
export function* sizeOf(sql: Reads, except = 0): Steps<{ count: number; conditionsBytes: number }> {
  // The databases store the length of conditions, and do not read them.
  const row = yield* sql.row<{ count: number; conditionsBytes: number }>(
    `SELECT count(*) AS count, coalesce(sum(octet_length(conditions)), 0) AS "conditionsBytes" FROM webhooks WHERE id <> $1`,
    [except],
  );
  return row ?? { count: 0, conditionsBytes: 0 };
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

const webhookFromRow = (row: WebhookRow, cipher: SecretCipher): Webhook => ({
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
