/**
 * The storage of the webhook service in SQLite: its parts, and the intake, whose batches are one transaction each with
 * the cursor of the event log or the position of the replay.
 */
import type { Database } from "../../store/engine/database.ts";
import { createGroupCommit } from "../../store/engine/group-commit.ts";
import type { EventLog } from "../../store/events/event-log.ts";
import { MetaStore } from "../../store/node/meta.ts";
import { type Intake, type IntakeBatch, READER } from "../intake.ts";
import { nextEpoch } from "../model/webhook.ts";
import { createSoleOwner } from "../ownership.ts";
import { PLAIN_SECRETS, type SecretCipher } from "../secrets.ts";
import { DeliveryQueue } from "../storage/delivery-queue.ts";
import { HealthRows } from "../storage/health.ts";
import { applyBatch, type EventPosition } from "../storage/intake-batch.ts";
import { readVersion } from "../storage/locks.ts";
import { scheduleFinish } from "../storage/queues.ts";
import { RegisterCommands, type RegisterStorage } from "../storage/register-commands.ts";
import { countReverts, unretracted } from "../storage/retractions.ts";
import { confirmedAt } from "../storage/unconfirmed-events.ts";
import { activateWaiting, activeWebhooks, idsOf, WebhookRows } from "../storage/webhooks.ts";
import type { WebhookStorage } from "../webhooks.ts";
import { createSqliteStore, runNow, sqlOf, toSteps } from "./sql.ts";

type SqliteStorageDeps = {
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
  const meta = new MetaStore(database);
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

type IntakeDeps = {
  readonly database: Database;
  readonly eventLog: Pick<EventLog, "read" | "cursor" | "moveCursor" | "hasRetractionAfter">;
};

export function createSqliteIntake({ database, eventLog }: IntakeDeps): Intake {
  const sql = sqlOf(database);
  const matched = () => eventLog.cursor(READER) ?? 0;
  const canReplay = () => !eventLog.hasRetractionAfter(matched());
  const position: EventPosition = {
    lock: () => toSteps(() => []),
    canReplay: () => toSteps(canReplay),
    move: (_sql, sequence) => toSteps(() => eventLog.moveCursor(READER, sequence)),
  };
  return {
    async activeWebhooks(known) {
      const version = runNow(readVersion(sql));
      return version === known ? undefined : { version, webhooks: runNow(activeWebhooks(sql, [])) };
    },
    nextEvents: async (limit) => eventLog.read(matched(), limit),
    canReplay: async () => canReplay(),
    countReverts: async (blockIds, before) => runNow(countReverts(sql, blockIds, before)),
    unretracted: async (blocks, limit) => runNow(unretracted(sql, [], blocks, limit)),
    confirmedAt: async (heights, limit) => runNow(confirmedAt(sql, [], heights, limit)),
    apply: async (batch) =>
      database.transaction(() => runNow(applyBatch(sql, batch, position)), survivalOf(batch)),
  };
}

/** A range of a replay without events may be read again after a power loss. */
const survivalOf = ({ commands, position }: IntakeBatch) =>
  position.reader === "replay" && commands.length === 0 ? "process death" : "power loss";
