/**
 * The register of webhooks in PostgreSQL as rows, the aliases of webhooks, and the version of the register, which changes whenever the
 * active webhooks, or the owner of any, may have changed.
 */

import { CodedError } from "../../platform/coded-error.ts";
import { present } from "../../platform/present.ts";
import type { Postgres, Query, Transaction } from "../../postgres/connection.ts";
import type { OwnerState } from "../hand-over/owner.ts";
import type { ActiveWebhook, Webhook } from "../model/webhook.ts";
import { type DefinitionRow, definitionFromRow } from "../register/definition-columns.ts";
import type { RegisterRows, WebhookAliases } from "../register/rows.ts";
import { type SecretCipher, type SecretRow, secretsFromRow } from "../secrets.ts";

/** A webhook with its running replay, if any. */
type WebhookRow = DefinitionRow<boolean> &
  SecretRow & {
    id: string;
    suspended: string | null;
    suspended_ms: string | null;
    from_height: string | null;
    to_height: string | null;
    next_height: string | null;
  };

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

const webhookFromRow = (row: WebhookRow, cipher: SecretCipher): Webhook => ({
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

export const createPostgresAliases = ({ query }: Pick<Postgres, "query">): WebhookAliases => ({
  async idOf(alias) {
    // PostgreSQL refuses this character.
    if (alias.includes("\0")) return undefined;
    const [row] = await query<{ webhook: string }>("SELECT webhook FROM webhook_aliases WHERE alias = $1", [
      alias,
    ]);
    return row && Number(row.webhook);
  },
  async webhooks() {
    const rows = await query<{ webhook: string }>(
      "SELECT DISTINCT webhook FROM webhook_aliases ORDER BY webhook",
    );
    return rows.map(({ webhook }) => Number(webhook));
  },
});

/**
 * Increments the version while the webhooks have a state, which then stays until the end of the transaction.
 *
 * @throws {CodedError} OWNER_CHANGED if they have another state
 */
export async function bumpVersionWhile({ change }: Transaction, state: OwnerState): Promise<void> {
  const bumped = await change("UPDATE webhook_register SET version = version + 1 WHERE owner = $1", [state]);
  if (bumped > 0) return;
  throw new CodedError("OWNER_CHANGED", "the webhooks were handed over meanwhile", { isRetryable: true });
}

/**
 * Returns the version, which stays until the end of the transaction.
 *
 * @param isChanging true if the transaction will call `bumpVersion`: a shared lock could not be extended while others have one
 */
export async function lockVersion({ query }: Transaction, isChanging = false): Promise<number> {
  const [row] = await query<{ version: string }>(
    `SELECT version FROM webhook_register FOR ${isChanging ? "NO KEY UPDATE" : "SHARE"}`,
  );
  return Number(present(row, "the row of the register").version);
}
