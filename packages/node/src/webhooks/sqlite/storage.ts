/**
 * The storage of the webhook service in SQLite: its parts, and the intake, whose batches are one transaction each with
 * the cursor of the event log or the position of the replay.
 */
import type { LoggedEvent } from "../../events/catalogue.ts";
import { present } from "../../platform/present.ts";
import type { Database } from "../../store/engine/database.ts";
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
import type { DeliveredFact, Finish } from "../model/deliveries.ts";
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
  const finish: Finish = { state: "failed", reason: WAS_OFF, withRetractions: true, withUnconfirmed: true };
  for (const webhook of runNow(idsOf(sql, []))) runNow(scheduleFinish(sql, webhook, finish));
}

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

/** Time that the first change of a group waits for others. */
const GATHER_MS = 2;

/**
 * Maximum number of changes in one transaction, which occupies the thread. Further changes follow after other
 * work of the event loop.
 */
const MAX_GROUP = 32;

type Member = {
  /** Makes the change; the returned function reports its success. */
  readonly change: () => () => void;
  readonly reject: (error: unknown) => void;
};

/** Combines changes that arrive within a short time into one transaction, so that they wait for the disk together. */
export class GroupCommit {
  readonly #database: Pick<Database, "group">;
  readonly #waiting: Member[] = [];

  constructor(database: Pick<Database, "group">) {
    this.#database = database;
  }

  /**
   * Settles with the result or the error of the change after the transaction is on disk. Changes run in the
   * order of the calls.
   */
  run<T>(change: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setTimeout(() => this.#commit(), GATHER_MS);
      this.#waiting.push({
        change: () => {
          const result = change();
          return () => resolve(result);
        },
        reject,
      });
    });
  }

  #commit(): void {
    const group = this.#waiting.splice(0, MAX_GROUP);
    if (this.#waiting.length > 0) setImmediate(() => this.#commit());
    try {
      const results = this.#database.group(group.map(({ change }) => change));
      for (const [index, result] of results.entries()) {
        if (result.status === "fulfilled") result.value();
        else present(group[index], "the change of a result").reject(result.reason);
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
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
