/** The register of webhooks in SQLite, for tests without a service. */
import type { Database } from "../../src/store/engine/database.ts";
import type { WebhookFields } from "../../src/webhooks/model/webhook.ts";
import { ownerOf, PLAIN_SECRETS } from "../../src/webhooks/secrets.ts";
import { runNow, sqlOf } from "../../src/webhooks/sqlite/sql.ts";
import { findWebhook, idsOf, insertWebhook, readEventNames } from "../../src/webhooks/storage/webhooks.ts";

export type WebhookStore = ReturnType<typeof createWebhookStore>;

export function createWebhookStore(database: Database, cipher = PLAIN_SECRETS) {
  const sql = sqlOf(database);
  const ids = () => runNow(idsOf(sql, []));
  const find = (id: number) => runNow(findWebhook(sql, cipher, id));
  return {
    ids,
    find,
    count: () => ids().length,
    page: ({ offset, limit }: { offset: number; limit: number }) =>
      ids()
        .slice(offset, offset + limit)
        .flatMap((id) => find(id) ?? []),
    eventNames: () => runNow(readEventNames(sql)),
    insert: (fields: WebhookFields, token: string) =>
      database.transaction(() => runNow(insertWebhook(sql, cipher, fields, token))),
    activate: (id: number, after: number) =>
      void runNow(sql.change("UPDATE webhooks SET active_after = $1 WHERE id = $2", [after, id])),
    rotate: (id: number, token: string, untilMs: number) =>
      void runNow(
        sql.change(
          "UPDATE webhooks SET previous_token = token, previous_until_ms = $2, token = $3 WHERE id = $1",
          [id, untilMs, cipher.encrypt(token, ownerOf(id))],
        ),
      ),
  };
}
