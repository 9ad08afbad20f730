/** The register of webhooks in PostgreSQL as rows. */
import type { Postgres, Query, Transaction } from "../../postgres/connection.ts";
import type { ActiveWebhook, Webhook } from "../model/webhook.ts";
import { type DefinitionRow, definitionFromRow } from "../register/definition-columns.ts";
import type { RegisterRows } from "../register/rows.ts";
import type { SecretCipher } from "../secrets/encryption.ts";
import { type SecretRow, secretsFromRow } from "../secrets/rows.ts";

/** A webhook with its running replay, if any. */
export type WebhookRow = DefinitionRow<boolean> &
  SecretRow & {
    id: string;
    suspended: string | null;
    suspended_ms: string | null;
    from_height: string | null;
    to_height: string | null;
    next_height: string | null;
  };

/** SQL condition for webhooks that get deliveries: a queue that is being finished or restarted is completed first. */
export const IS_ON = `webhooks.enabled AND webhooks.suspended IS NULL
  AND NOT EXISTS (SELECT 1 FROM finishing_queues WHERE finishing_queues.webhook = webhooks.id)
  AND NOT EXISTS (SELECT 1 FROM restarting_queues WHERE restarting_queues.webhook = webhooks.id)`;

const LISTED = `SELECT webhooks.*, from_height, to_height, next_height
  FROM webhooks LEFT JOIN replays ON replays.webhook = webhooks.id AND replays.state = 'running'`;

/** @param cipher cipher of the secrets */
export const createWebhookRows = (
  { query }: Pick<Postgres, "query">,
  cipher: SecretCipher,
): RegisterRows => ({
  async count() {
    const [row] = await query<{ total: number }>("SELECT count(*)::integer AS total FROM webhooks");
    return row?.total ?? 0;
  },
  async page({ offset, limit }) {
    const rows = await query<WebhookRow>(`${LISTED} ORDER BY id LIMIT $1 OFFSET $2`, [limit, offset]);
    return rows.map((row) => webhookFromRow(row, cipher));
  },
  find: (id) => findWebhook(query, id, cipher),
  async twinOf({ id, target, event, events, conditions, match }) {
    const [row] = await query<{ id: string }>(
      `SELECT id FROM webhooks WHERE target = $1 AND event IS NOT DISTINCT FROM $2 AND events = $3 AND conditions = $4
         AND match_all = $5 AND enabled AND id <> $6 ORDER BY id LIMIT 1`,
      [target, event, JSON.stringify(events), conditions, match === "all", id],
    );
    return row && Number(row.id);
  },
});

export async function findWebhook(
  query: Query,
  id: number,
  cipher: SecretCipher,
): Promise<Webhook | undefined> {
  const [row] = await query<WebhookRow>(`${LISTED} WHERE id = $1`, [id]);
  return row && webhookFromRow(row, cipher);
}

/** Finds a webhook, which no other transaction can change until the end of this one. */
export async function lockWebhook(
  { query }: Transaction,
  id: number,
  cipher: SecretCipher,
): Promise<Webhook | undefined> {
  // Leaves the key unlocked: rows that refer to the webhook can be inserted.
  const [row] = await query<WebhookRow>(`${LISTED} WHERE id = $1 FOR NO KEY UPDATE OF webhooks`, [id]);
  return row && webhookFromRow(row, cipher);
}

export const webhookFromRow = (row: WebhookRow, cipher: SecretCipher): Webhook => ({
  ...definitionFromRow(Number(row.id), row),
  secrets: secretsFromRow(Number(row.id), row, cipher),
  ...(row.suspended !== null && {
    suspended: { reason: row.suspended, sinceMs: Number(row.suspended_ms ?? 0) },
  }),
  ...(row.from_height !== null && {
    replay: {
      fromHeight: Number(row.from_height),
      toHeight: Number(row.to_height),
      nextHeight: Number(row.next_height),
    },
  }),
});

type ActiveRow = Pick<
  DefinitionRow<boolean>,
  "event" | "events" | "conditions" | "match_all" | "confirmations"
> & {
  id: string;
  shard: number;
  active_after: string;
};

/** Returns the active webhooks of shards by ascending id. */
export async function activeWebhooks(
  query: Query,
  shards: readonly number[],
): Promise<(ActiveWebhook & { readonly shard: number })[]> {
  const rows = await query<ActiveRow>(
    `SELECT id, shard, event, events, conditions, match_all, confirmations, active_after FROM webhooks
     WHERE enabled AND suspended IS NULL AND shard = ANY ($1) ORDER BY id`,
    [shards],
  );
  return rows.map(({ id, shard, event, events, conditions, match_all, confirmations, active_after }) => ({
    ...{ shard, event, conditions, confirmations },
    id: Number(id),
    events: JSON.parse(events),
    match: match_all ? "all" : "any",
    activeAfter: Number(active_after),
  }));
}
