/** The storage of the webhook service in SQLite. */
import type { Database } from "../../store/engine/database.ts";
import { createGroupCommit } from "../../store/engine/group-commit.ts";
import type { EventLog } from "../../store/events/event-log.ts";
import { createMetaStore } from "../../store/node/meta.ts";
import { READER } from "../intake.ts";
import { nextEpoch } from "../model/webhook.ts";
import { createSoleOwner } from "../ownership.ts";
import { PLAIN_SECRETS, type SecretCipher } from "../secrets.ts";
import { DeliveryQueue } from "../storage/delivery-queue.ts";
import { HealthRows } from "../storage/health.ts";
import { scheduleFinish } from "../storage/queues.ts";
import { RegisterCommands, type RegisterStorage } from "../storage/register-commands.ts";
import { activateWaiting, idsOf, WebhookRows } from "../storage/webhooks.ts";
import type { WebhookStorage } from "../webhooks.ts";
import { createSqliteIntake } from "./intake.ts";
import { createSqliteStore, runNow, sqlOf, toSteps } from "./sql.ts";

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
  const meta = createMetaStore(database);
  const epoch = nextEpoch(Number(meta.read("webhookEpoch") ?? 0), Date.now());
  database.transaction(() => {
    meta.write("webhookEpoch", `${epoch}`);
    start(database, eventLog);
  });
  return {
    network: meta.read("nethash") ?? "",
    queue: new DeliveryQueue({
      ...{ store: createSqliteStore(database), cipher },
      ownership: createSoleOwner(epoch),
      shards: () => [],
      lockOwned: () => toSteps(() => () => true),
    }),
    intake: createSqliteIntake({ database, eventLog }),
    register: createRegisterStorage(database, eventLog, cipher),
  };
}

function start(database: Database, eventLog: SqliteStorageDeps["eventLog"]): void {
  const sql = sqlOf(database);
  runNow(activateWaiting(sql, eventLog.lastSequence()));
  if (eventLog.cursor(READER) !== undefined) return;
  eventLog.moveCursor(READER, eventLog.lastSequence());
  // While the service was off, blocks of pending deliveries may have been reverted without a retraction.
  for (const webhook of runNow(idsOf(sql, [])))
    runNow(scheduleFinish(sql, webhook, { state: "failed", reason: WAS_OFF, withRetractions: true }));
}

/** Changes that arrive within a short time share one transaction. */
function createRegisterStorage(
  database: Database,
  eventLog: SqliteStorageDeps["eventLog"],
  cipher: SecretCipher,
): RegisterStorage {
  const store = createSqliteStore(database);
  const sql = sqlOf(database);
  const commit = createGroupCommit(database);
  return {
    webhooks: new WebhookRows(store, cipher),
    health: new HealthRows(store),
    commands: new RegisterCommands({
      cipher,
      commit: (steps) => commit(() => runNow(steps(sql))),
      commitFrom: (steps) => commit(() => runNow(steps(sql, eventLog.lastSequence()))),
    }),
    lastEvent: async () => eventLog.lastSequence(),
    lastMatched: async () => eventLog.cursor(READER) ?? 0,
  };
}
