/**
 * The storage of the webhook service in SQLite: its parts, and the intake, whose batches are one transaction each with
 * the cursor of the event log or the position of the replay.
 */
import type { LoggedEvent } from "../../events/catalogue.ts";
import type { Database } from "../../store/engine/database.ts";
import { GroupCommit } from "../../store/engine/group-commit.ts";
import type { EventLog } from "../../store/events/event-log.ts";
import { MetaStore } from "../../store/node/meta.ts";
import {
  type ActiveWebhooks,
  type Applied,
  type BlockReference,
  type Confirmed,
  type Intake,
  type IntakeBatch,
  READER,
} from "../intake.ts";
import type { DeliveredFact } from "../model/deliveries.ts";
import { nextEpoch } from "../model/webhook.ts";
import { createSoleOwner } from "../ownership.ts";
import { PLAIN_SECRETS, type SecretCipher } from "../secrets.ts";
import { DeliveryQueue } from "../storage/delivery-queue.ts";
import { HealthRows } from "../storage/health.ts";
import { applyBatch, type EventPosition } from "../storage/intake-commands.ts";
import { readVersion } from "../storage/locks.ts";
import { scheduleFinish } from "../storage/queues.ts";
import { RegisterCommands, type RegisterStorage } from "../storage/register-commands.ts";
import { countReverts, unretracted } from "../storage/retractions.ts";
import type { Sql } from "../storage/sql.ts";
import { confirmedAt } from "../storage/unconfirmed-events.ts";
import { WebhookRows } from "../storage/webhook-list.ts";
import { activateWaiting, activeWebhooks, idsOf } from "../storage/webhooks.ts";
import type { WebhookStorage } from "../webhooks.ts";
import { runNow, SqliteStore, sqlOf, toSteps } from "./sql.ts";

type SqliteStorageDeps = {
  /** A dedicated connection that can write, also used by the event log. */
  readonly database: Database;
  readonly eventLog: Pick<EventLog, "read" | "lastSequence" | "cursor" | "moveCursor" | "hasRetractionAfter">;
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
      store: new SqliteStore(database),
      cipher,
      ownership: createSoleOwner(epoch),
      shards: () => [],
      lockOwned: () => toSteps(() => () => true),
    }),
    intake: new SqliteIntake({ database, eventLog }),
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
  const store = new SqliteStore(database);
  const sql = sqlOf(database);
  const groupCommit = new GroupCommit(database);
  return {
    webhooks: new WebhookRows(store, cipher),
    health: new HealthRows(store),
    commands: new RegisterCommands({
      cipher,
      commit: (steps) => groupCommit.run(() => runNow(steps(sql))),
      commitFrom: (steps) => groupCommit.run(() => runNow(steps(sql, eventLog.lastSequence()))),
    }),
    lastEvent: async () => eventLog.lastSequence(),
    lastMatched: async () => eventLog.cursor(READER) ?? 0,
  };
}

type IntakeDeps = {
  readonly database: Database;
  readonly eventLog: Pick<EventLog, "read" | "cursor" | "moveCursor" | "hasRetractionAfter">;
};

export class SqliteIntake implements Intake {
  readonly #deps: IntakeDeps;
  readonly #sql: Sql;

  constructor(deps: IntakeDeps) {
    this.#deps = deps;
    this.#sql = sqlOf(deps.database);
  }

  async activeWebhooks(known: number | undefined): Promise<ActiveWebhooks | undefined> {
    const version = runNow(readVersion(this.#sql));
    return version === known ? undefined : { version, webhooks: runNow(activeWebhooks(this.#sql, [])) };
  }

  async nextEvents(limit: number): Promise<readonly LoggedEvent[]> {
    return this.#deps.eventLog.read(this.#matched(), limit);
  }

  #matched(): number {
    return this.#deps.eventLog.cursor(READER) ?? 0;
  }

  async canReplay(): Promise<boolean> {
    return !this.#deps.eventLog.hasRetractionAfter(this.#matched());
  }

  async countReverts(blockIds: readonly string[], before: number): Promise<ReadonlyMap<string, number>> {
    return runNow(countReverts(this.#sql, blockIds, before));
  }

  async unretracted(blocks: readonly BlockReference[], limit: number): Promise<readonly DeliveredFact[]> {
    return runNow(unretracted(this.#sql, [], blocks, limit));
  }

  async confirmedAt(heights: readonly number[], limit: number): Promise<readonly Confirmed[]> {
    return runNow(confirmedAt(this.#sql, [], heights, limit));
  }

  async apply(batch: IntakeBatch): Promise<Applied> {
    const { database, eventLog } = this.#deps;
    const position: EventPosition = {
      lock: () => toSteps(() => []),
      canReplay: () => toSteps(() => !eventLog.hasRetractionAfter(this.#matched())),
      move: (_sql, sequence) => toSteps(() => eventLog.moveCursor(READER, sequence)),
    };
    return database.transaction(() => runNow(applyBatch(this.#sql, batch, position)), survivalOf(batch));
  }
}

/** A range of a replay without events may be read again after a power loss. */
const survivalOf = ({ commands, position }: IntakeBatch) =>
  position.reader === "replay" && commands.length === 0 ? "process death" : "power loss";
