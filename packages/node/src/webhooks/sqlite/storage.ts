/** The storage of the webhook service in SQLite. */
import type { PastEvents } from "../../event-log/history.ts";
import type { Database } from "../../store/engine/database.ts";
import { createGroupCommit } from "../../store/engine/group-commit.ts";
import { createReadTogether } from "../../store/engine/snapshot.ts";
import type { EventLog } from "../../store/events/event-log.ts";
import { createMetaStore } from "../../store/node/meta.ts";
import { type Intake, READER } from "../intake.ts";
import type { RegisterStorage } from "../register/rows.ts";
import type { WebhookStorage } from "../webhooks.ts";
import { createDeliveryStore } from "./deliveries.ts";
import { createSqliteDeliveryQueue } from "./delivery-queue.ts";
import { createFinishedDeliveryStore } from "./finished-deliveries.ts";
import { createHealthRows } from "./health-rows.ts";
import { createContentStore } from "./messages.ts";
import { createReplayQueue } from "./replay-queue.ts";
import { createReplayStore } from "./replays.ts";
import { createRestartedQueueStore } from "./restarted-queues.ts";
import { createBlockRevertStore, createDeliveredFactStore } from "./retractions.ts";
import { PLAIN_SECRETS, type SecretCipher } from "./secrets/encryption.ts";
import { createUnconfirmedEventStore } from "./unconfirmed-events.ts";
import { createSuspendWebhook, createWebhookHealthStore } from "./webhook-health.ts";
import { createWebhookAliases, createWebhookStore, type WebhookStore } from "./webhooks.ts";

export type SqliteStorageDeps = {
  /** A dedicated connection that can write, also used by the event log. */
  readonly database: Database;
  readonly eventLog: Pick<EventLog, "read" | "lastSequence" | "cursor" | "moveCursor" | "hasRetractionAfter">;
  /** Events of stored blocks, read through the same connection. */
  readonly pastEvents: PastEvents;
  /** Cipher of the secrets in the database; absent: they are plain text. */
  readonly cipher?: SecretCipher;
};

/** Reason of deliveries that were cancelled because they were pending while the service was off. */
const WAS_OFF = "webhooks were off";

/** Must be called once per start of the service: from here on, the event log keeps unmatched events. */
export function openSqliteStorage({
  database,
  eventLog,
  pastEvents,
  cipher = PLAIN_SECRETS,
}: SqliteStorageDeps): WebhookStorage {
  const webhooks = createWebhookStore(database, cipher);
  database.transaction(() => start(database, webhooks, eventLog));
  return {
    network: createMetaStore(database).read("nethash") ?? "",
    queue: createSqliteDeliveryQueue(database, cipher),
    intake: { ...createIntake(database, webhooks, eventLog), pastEvents },
    register: createRegisterStorage(database, webhooks, eventLog),
  };
}

function start(database: Database, webhooks: WebhookStore, eventLog: SqliteStorageDeps["eventLog"]): void {
  webhooks.activateWaiting(eventLog.lastSequence());
  if (eventLog.cursor(READER) !== undefined) return;
  eventLog.moveCursor(READER, eventLog.lastSequence());
  // While the service was off, blocks of pending deliveries may have been reverted without a retraction.
  const finishedDeliveries = createFinishedDeliveryStore(database);
  for (const webhook of webhooks.ids()) {
    finishedDeliveries.schedule(webhook, { state: "failed", reason: WAS_OFF, withRetractions: true });
  }
}

function createIntake(
  database: Database,
  webhooks: WebhookStore,
  eventLog: SqliteStorageDeps["eventLog"],
): Omit<Intake, "pastEvents"> {
  const { has, insert } = createDeliveryStore(database);
  const { putAgain } = createReplayQueue(database);
  const matched = () => eventLog.cursor(READER) ?? 0;
  return {
    transaction: async (work, survives) => database.transaction(work, survives),
    readTogether: createReadTogether(database),
    suspend: createSuspendWebhook(database),
    events: {
      next: (limit) => eventLog.read(matched(), limit),
      moveTo: (sequence) => eventLog.moveCursor(READER, sequence),
      hasRetraction: () => eventLog.hasRetractionAfter(matched()),
    },
    deliveries: { has, insert, nextSequence: webhooks.nextSequence },
    contents: createContentStore(database),
    facts: createDeliveredFactStore(database),
    unconfirmed: createUnconfirmedEventStore(database),
    blockReverts: createBlockRevertStore(database),
    replayed: { putAgain, advance: createReplayStore(database).advance },
  };
}

function createRegisterStorage(
  database: Database,
  webhooks: WebhookStore,
  eventLog: SqliteStorageDeps["eventLog"],
): RegisterStorage {
  const finishedDeliveries = createFinishedDeliveryStore(database);
  const replays = createReplayStore(database);
  return {
    commit: createGroupCommit(database),
    webhooks,
    aliases: createWebhookAliases(database),
    health: createHealthRows(database),
    lastEvent: eventLog.lastSequence,
    lastMatched: () => eventLog.cursor(READER) ?? 0,
    cancelDeliveries(webhook, { reason, withRetractions }, atMs) {
      replays.end(webhook, "cancelled", atMs, reason);
      finishedDeliveries.begin(webhook, { state: "cancelled", reason, withRetractions }, atMs);
    },
    restartQueue: createRestartedQueueStore(database).begin,
    resume: createWebhookHealthStore(database).resume,
  };
}
