/** The register of webhooks as clients read it: single webhooks, pages, and searches by state and text. */
import type { Webhook } from "../model/webhook.ts";
import type { SecretCipher } from "../secrets.ts";
import { minuteOf, RECENT_MINUTES, stateSql, type WebhookState } from "./health.ts";
import type { Kind, Store } from "./sql.ts";
import { findAlias, IS_REGISTERED, LISTED, type WebhookRow, webhookFromRow } from "./webhooks.ts";

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

/** Returns SQL for a text with its ASCII letters in lower case; PostgreSQL would use the locale of the database. */
const lower = (kind: Kind, text: string): string =>
  `lower(${text}${kind === "sqlite" ? "" : ' COLLATE "C"'})`;

/** SQL condition for webhooks in the state $1 with the text $2, by their attempts after the minute $3 until $4. */
const matching = (kind: Kind): string =>
  `${IS_REGISTERED} AND (CAST($1 AS text) IS NULL OR $1 = ${stateSql(IS_FAILING)}) AND (CAST($2 AS text) IS NULL
    OR ${kind === "sqlite" ? "instr" : "strpos"}(${lower(kind, "concat_ws(' ', name, target, event, webhooks.events)")},
      ${lower(kind, "$2")}) > 0)`;

/** Returns SQL for an order; webhooks without a value are last. Letters are compared as their code points. */
function orderSql(kind: Kind, order: WebhookOrder): string {
  const [field, direction] = order.split(":") as [OrderField, string];
  const column = {
    ...{ id: "id", name: lower(kind, "name"), target: lower(kind, "target") },
    "failing.since": "CASE WHEN enabled AND suspended IS NULL THEN failing_since_ms END",
  }[field];
  return `${column} ${direction} NULLS LAST, id`;
}

export class WebhookRows {
  readonly #store: Store;
  readonly #cipher: SecretCipher;

  constructor(store: Store, cipher: SecretCipher) {
    this.#store = store;
    this.#cipher = cipher;
  }

  count(): Promise<number> {
    return this.#store.read(function* (sql) {
      const row = yield* sql.row<{ total: number }>(
        `SELECT count(*) AS total FROM webhooks WHERE ${IS_REGISTERED}`,
      );
      return row?.total ?? 0;
    });
  }

  /** Returns webhooks by ascending id. */
  page({ offset, limit }: Range): Promise<readonly Webhook[]> {
    const cipher = this.#cipher;
    return this.#store.read(function* (sql) {
      const rows = yield* sql.rows<WebhookRow>(
        `${LISTED} WHERE ${IS_REGISTERED} ORDER BY id LIMIT $1 OFFSET $2`,
        [limit, offset],
      );
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
    const cipher = this.#cipher;
    return this.#store.read(function* (sql) {
      const row = yield* sql.row<WebhookRow>(`${LISTED} WHERE id = $1 AND ${IS_REGISTERED}`, [id]);
      return row && webhookFromRow(row, cipher);
    });
  }

  /** Returns the lowest id of another enabled webhook with the same target, events and conditions. */
  twinOf({ id, target, event, events, conditions, match }: Webhook): Promise<number | undefined> {
    return this.#store.read(function* (sql) {
      const row = yield* sql.row<{ id: number }>(
        `SELECT id FROM webhooks WHERE target = $1 AND event IS NOT DISTINCT FROM $2 AND events = $3 AND conditions = $4
           AND match_all = $5 AND enabled AND id <> $6 AND ${IS_REGISTERED} ORDER BY id LIMIT 1`,
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
