/** The storage of the webhook service in SQLite. */
import type { Database } from "../../store/engine/database.ts";
import type { EventLog } from "../../store/events/event-log.ts";
import { createMetaStore } from "../../store/node/meta.ts";
import type { HealthRows } from "../health.ts";
import { READER } from "../intake.ts";
import { nextEpoch } from "../model/webhook.ts";
import type { RegisterRows, RegisterStorage, WebhookAliases } from "../register/rows.ts";
import { PLAIN_SECRETS, type SecretCipher } from "../secrets.ts";
import { scheduleFinish } from "../storage/queues.ts";
import type { WebhookStorage } from "../webhooks.ts";
import { createSqliteDeliveryQueue } from "./delivery-queue.ts";
import { createHealthRows } from "./health.ts";
import { createSqliteIntake } from "./intake.ts";
import { createSqliteRegisterCommands } from "./register-commands.ts";
import { runNow, sqlOf, toPort } from "./sql.ts";
import { createWebhookAliases, createWebhookStore, type WebhookStore } from "./webhooks.ts";

export type SqliteStorageDeps = {
  /** A dedicated connection that can write, also used by the event log. */
  readonly database: Database;
  readonly eventLog: Pick<EventLog, "read" | "lastSequence" | "cursor" | "moveCursor" | "hasRetractionAfter">;
  /** Cipher of the secrets in the database; absent: they are plain text. */
  readonly cipher?: SecretCipher;
};

/** Reason of deliveries that were cancelled because they were pending while the service was off. */
const WAS_OFF = "webhooks were off";

/** Must be called once per start of the service: from here on, the event log keeps unmatched events. */
export function openSqliteStorage({
  database,
  eventLog,
  cipher = PLAIN_SECRETS,
}: SqliteStorageDeps): WebhookStorage {
  const webhooks = createWebhookStore(database, cipher);
  const meta = createMetaStore(database);
  const epoch = nextEpoch(Number(meta.read("webhookEpoch") ?? 0), Date.now());
  database.transaction(() => {
    meta.write("webhookEpoch", `${epoch}`);
    start(database, webhooks, eventLog);
  });
  return {
    network: meta.read("nethash") ?? "",
    queue: createSqliteDeliveryQueue(database, cipher, epoch),
    intake: createSqliteIntake({ database, webhooks, eventLog }),
    register: createRegisterStorage(database, webhooks, eventLog),
  };
}

function start(database: Database, webhooks: WebhookStore, eventLog: SqliteStorageDeps["eventLog"]): void {
  webhooks.activateWaiting(eventLog.lastSequence());
  if (eventLog.cursor(READER) !== undefined) return;
  eventLog.moveCursor(READER, eventLog.lastSequence());
  // While the service was off, blocks of pending deliveries may have been reverted without a retraction.
  for (const webhook of webhooks.ids()) {
    const finish = { state: "failed", reason: WAS_OFF, withRetractions: true } as const;
    runNow(scheduleFinish(sqlOf(database), webhook, finish));
  }
}

function createRegisterStorage(
  database: Database,
  webhooks: WebhookStore,
  eventLog: SqliteStorageDeps["eventLog"],
): RegisterStorage {
  const { count, page, find, twinOf } = webhooks;
  const { idOf, webhooks: aliased } = createWebhookAliases(database);
  const { lastSequence: lastEvent } = eventLog;
  return {
    webhooks: toPort<RegisterRows>({ count, page, find, twinOf }),
    aliases: toPort<WebhookAliases>({ idOf, webhooks: aliased }),
    health: toPort<HealthRows>(createHealthRows(database)),
    commands: createSqliteRegisterCommands({ database, webhooks, lastEvent }),
    lastEvent: async () => lastEvent(),
    lastMatched: async () => eventLog.cursor(READER) ?? 0,
  };
}
