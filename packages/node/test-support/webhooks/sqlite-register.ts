/** Rows of webhooks in SQLite, for tests without a service. */

import { present } from "../../src/platform/present.ts";
import type { Database } from "../../src/store/engine/database.ts";
import type { NewDelivery } from "../../src/webhooks/model/deliveries.ts";
import type { WebhookFields } from "../../src/webhooks/model/webhook.ts";
import { ownerOf, PLAIN_SECRETS } from "../../src/webhooks/secrets.ts";
import { runNow, sqlOf } from "../../src/webhooks/sqlite/sql.ts";
import { insertContents, insertDeliveries } from "../../src/webhooks/storage/delivery-rows.ts";
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

/** Deliveries in SQLite, for tests without a service. */
export function createDeliveryRows(database: Database) {
  const sql = sqlOf(database);
  const last = database.prepare<{ number: number }>("SELECT max(number) AS number FROM deliveries");
  const finish = database.prepare(
    "UPDATE deliveries SET state = ?, attempts = attempts + 1, finished_ms = ?, reason = ? WHERE number = ?",
  );
  const postpone = database.prepare(
    "UPDATE deliveries SET attempts = attempts + 1, next_attempt_ms = ?, reason = ? WHERE number = ?",
  );
  return {
    finish: (number: number, state: "delivered" | "failed", atMs: number, reason?: string) =>
      void finish.run(state, atMs, reason ?? null, number),
    postpone: (number: number, nextAttemptMs: number, reason: string) =>
      void postpone.run(nextAttemptMs, reason, number),
    /** Puts a delivery into the queue of its webhook. Returns its number. */
    insert(delivery: NewDelivery, atMs: number): number {
      runNow(insertDeliveries(sql, [delivery], atMs));
      return present(last.get()).number;
    },
    insertContent: (): number => present(runNow(insertContents(sql, [{}]))[0]),
  };
}
