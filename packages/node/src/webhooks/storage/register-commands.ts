/**
 * Changes of the register. Each is a transaction that first locks the register, and then the webhook and its queue: changes by several
 * processes exclude each other, and the limits hold for all of them together. Bounds are needed because the register is compiled in
 * memory and searched for every event.
 */
import { checkEvents, type Webhook, type WebhookFields } from "../model/webhook.ts";
import { ownerOf, type SecretCipher } from "../secrets.ts";
import type { HealthRows } from "./health.ts";
import { pendingCount } from "./lanes.ts";
import { bumpVersion, lockQueue, noteChange } from "./locks.ts";
import { insertPing, type NewPing } from "./pings.ts";
import { beginFinish, beginRestart } from "./queues.ts";
import { endReplay } from "./replays.ts";
import type { Sql, Steps } from "./sql.ts";
import type { WebhookRows } from "./webhook-list.ts";
import {
  checkConditions,
  checkLimits,
  DEFINITION_COLUMNS,
  definitionValues,
  findWebhook,
  insertWebhook,
  sizeOf,
} from "./webhooks.ts";

export type NewWebhookRow = { readonly fields: WebhookFields; readonly token: string };

export type Update = {
  readonly changes: Partial<WebhookFields>;
  /**
   * Cancels pending deliveries and a replay; absent: they stay. Retractions are only cancelled if the target changes.
   * `DeliveryQueue.finishStep` continues after the first step.
   */
  readonly drop?: { readonly reason: string; readonly atMs: number };
};

export type Updated = {
  readonly before: Webhook;
  readonly after: WebhookFields;
  /** True if the queue restarts: pending deliveries are first attempts again. `DeliveryQueue.finishStep` continues. */
  readonly restarts: boolean;
  readonly dropped: number;
};

export type RegisterCommandDeps = {
  readonly cipher: SecretCipher;
  /** Throws if the cipher is not that of the secrets any longer; called in the transaction, before a secret is written. */
  readonly checkCipher?: (sql: Sql) => Steps<void>;
  /** Runs steps in a transaction, in the order of the calls; several may share one. A refused change undoes no other. */
  readonly commit: <T>(steps: (sql: Sql) => Steps<T>) => Promise<T>;
  /** Runs steps like `commit`, and gives them the sequence of the newest event: the webhook receives the events that are logged after it. */
  readonly commitFrom: <T>(steps: (sql: Sql, after: number) => Steps<T>) => Promise<T>;
};

/** Each change is atomic, and on disk when its promise settles. */
export class RegisterCommands {
  readonly #deps: Required<RegisterCommandDeps>;

  constructor(deps: RegisterCommandDeps) {
    this.#deps = { *checkCipher() {}, ...deps };
  }

  /**
   * Inserts a webhook, which receives nothing until it is activated.
   *
   * @throws {WebhookError} WEBHOOK_LIMIT if the register would have too many webhooks or conditions
   */
  insert({ fields, token }: NewWebhookRow, webhookLimit: number): Promise<Webhook> {
    const { commit, checkCipher, cipher } = this.#deps;
    return commit(function* (sql) {
      yield* bumpVersion(sql);
      yield* checkCipher(sql);
      checkLimits(yield* sizeOf(sql), [fields], webhookLimit);
      return yield* insertWebhook(sql, cipher, fields, token);
    });
  }

  /** Activates a webhook: it receives the ping, if there is one, and then every event that is logged from here on. */
  activate(id: number, ping?: NewPing): Promise<void> {
    return this.#deps.commitFrom(function* (sql, after) {
      yield* bumpVersion(sql);
      yield* sql.change("UPDATE webhooks SET active_after = $2 WHERE id = $1", [id, after]);
      if (!ping || !(yield* lockQueue(sql, id))) return;
      yield* insertPing(sql, ping);
      yield* noteChange(sql, id, false);
    });
  }

  /**
   * Changes the definition; id and token stay, and the failure count is reset. A webhook that was inactive receives every
   * event that is logged from here on. Resolves to undefined if the webhook is unknown.
   *
   * @throws {SubscriptionError} if no event would remain
   * @throws {WebhookError} WEBHOOK_LIMIT
   */
  update(id: number, { changes, drop }: Update): Promise<Updated | undefined> {
    const { commitFrom, cipher } = this.#deps;
    return commitFrom(function* (sql, last) {
      yield* bumpVersion(sql);
      const before = yield* findWebhook(sql, cipher, id, "FOR NO KEY UPDATE OF webhooks");
      if (!before) return undefined;
      const others = changes.conditions === undefined ? 0 : (yield* sizeOf(sql, id)).conditionsBytes;
      const { after, isMoved, wasActive, restarts } = planUpdate(before, changes, others);
      const dropped = drop ? yield* dropQueue(sql, id, isMoved, drop) : 0;
      yield* replace(sql, before, after, wasActive ? undefined : last);
      if (restarts) yield* beginRestart(sql, id);
      yield* noteChange(sql, id, restarts);
      return { before, after, restarts, dropped };
    });
  }

  /** Sets a new token; the current one stays valid until a time. Resolves to undefined if the webhook is unknown. */
  rotate(id: number, token: string, untilMs: number): Promise<Webhook | undefined> {
    const { commit, checkCipher, cipher } = this.#deps;
    return commit(function* (sql) {
      yield* checkCipher(sql);
      yield* sql.change(
        "UPDATE webhooks SET previous_token = token, previous_until_ms = $2, token = $3 WHERE id = $1",
        [id, untilMs, cipher.encrypt(token, ownerOf(id))],
      );
      const rotated = yield* findWebhook(sql, cipher, id);
      if (rotated) yield* noteChange(sql, id, false);
      return rotated;
    });
  }

  /** Removes a webhook: its deliveries are hidden at once, and dropped step by step. Resolves to `false` if it is unknown. */
  remove(id: number): Promise<boolean> {
    return this.#deps.commit(function* (sql) {
      yield* bumpVersion(sql);
      if ((yield* sql.change("DELETE FROM webhooks WHERE id = $1", [id])) === 0) return false;
      yield* sql.change("INSERT INTO removed_webhooks VALUES ($1)", [id]);
      yield* noteChange(sql, id, true);
      return true;
    });
  }

  /** Lifts a suspension and restarts the queue: the webhook receives every event that is logged from here on. */
  resume(id: number): Promise<void> {
    return this.#deps.commitFrom(function* (sql, after) {
      yield* bumpVersion(sql);
      const resumed = yield* sql.change(
        `UPDATE webhooks SET suspended = NULL, suspended_ms = NULL, failures = 0, failing_since_ms = NULL, active_after = $2
         WHERE id = $1 AND suspended IS NOT NULL`,
        [id, after],
      );
      if (resumed > 0) yield* forgetAttempts(sql, id);
      yield* beginRestart(sql, id);
      yield* noteChange(sql, id, true);
    });
  }
}

type UpdatePlan = {
  readonly after: WebhookFields;
  /** True if the target changes: it has received no facts, and needs no retractions of them. */
  readonly isMoved: boolean;
  /** True if the webhook received events before the update. */
  readonly wasActive: boolean;
  /** True if the queue restarts, because a new target may respond. */
  readonly restarts: boolean;
};

/**
 * @param otherConditionsBytes size of the conditions of all other webhooks
 * @throws {SubscriptionError} if no event remains
 * @throws {WebhookError} WEBHOOK_LIMIT
 */
function planUpdate(
  before: Webhook,
  changes: Partial<WebhookFields>,
  otherConditionsBytes: number,
): UpdatePlan {
  const after = { ...before, ...changes };
  checkEvents(after);
  if (changes.conditions !== undefined) checkConditions(otherConditionsBytes, [after]);
  const isMoved = after.target !== before.target;
  const wasActive = before.enabled && before.suspended === undefined;
  return { after, isMoved, wasActive, restarts: isMoved || (after.enabled && !wasActive) };
}

/** Cancels pending deliveries of the webhook and its replay. Returns the number of deliveries. */
function* dropQueue(
  sql: Sql,
  id: number,
  withRetractions: boolean,
  { reason, atMs }: NonNullable<Update["drop"]>,
): Steps<number> {
  yield* lockQueue(sql, id);
  const row = yield* sql.row<{ queued: number }>(`SELECT ${pendingCount(sql.kind)} AS queued`, [id]);
  yield* endReplay(sql, id, "cancelled", atMs, reason);
  yield* beginFinish(sql, id, { state: "cancelled", reason, withRetractions, withUnconfirmed: true }, atMs);
  return row?.queued ?? 0;
}

/** @param after sequence of the last event that the webhook does not receive; undefined: as before */
function* replace(
  sql: Sql,
  { id, target, enabled, suspended }: Webhook,
  fields: WebhookFields,
  after: number | undefined,
): Steps<void> {
  yield* sql.change(
    `UPDATE webhooks SET (${DEFINITION_COLUMNS}) = ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11),
       active_after = coalesce($12, active_after),
       target_number = target_number + CASE WHEN target = $4 THEN 0 ELSE 1 END,
       failures = 0, failing_since_ms = NULL, suspended = NULL, suspended_ms = NULL WHERE id = $1`,
    [id, ...definitionValues(fields), after ?? null],
  );
  // Former attempts say nothing about another target, or one that was not called for some time.
  if (fields.target !== target || (fields.enabled && !enabled) || suspended) yield* forgetAttempts(sql, id);
}

function* forgetAttempts(sql: Sql, webhook: number): Steps<void> {
  yield* sql.change("DELETE FROM attempt_counts WHERE webhook = $1", [webhook]);
}

export type RegisterStorage = {
  readonly webhooks: WebhookRows;
  readonly health: HealthRows;
  readonly commands: RegisterCommands;
  /** Returns the sequence of the newest event ever logged; 0 before the first. */
  lastEvent(): Promise<number>;
  /** Returns the sequence of the last matched event. */
  lastMatched(): Promise<number>;
};
