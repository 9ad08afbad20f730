/**
 * Changes of the register in PostgreSQL. Each is a transaction that first locks the register, and then the webhook and its
 * queue: changes by several processes exclude each other, and the limits hold for all of them together.
 */

import { present } from "../../../platform/present.ts";
import type { Postgres, Query, Transaction } from "../../../postgres/connection.ts";
import { PostgresError } from "../../../postgres/error.ts";
import { CALL_TIMEOUT_MS } from "../../delivery-queue.ts";
import type { Webhook, WebhookFields } from "../../model/webhook.ts";
import { checkLimits, planUpdate } from "../../register/changes.ts";
import { DEFINITION_COLUMNS, definitionValues, NOT_YET } from "../../register/definition-columns.ts";
import type { NewPing, NewWebhookRow, RegisterCommands, Update, Updated } from "../../register/rows.ts";
import { ownerOf, type SecretCipher } from "../../secrets.ts";
import { pendingCount } from "../../storage/lanes.ts";
import { bumpVersion, lockQueue, noteChange } from "../../storage/locks.ts";
import { beginFinish, beginRestart } from "../../storage/queues.ts";
import { endReplay } from "../../storage/replays.ts";
import { insertPing } from "../log/ping.ts";
import { runSteps, sqlOf } from "../sql.ts";
import { findWebhook, lockWebhook } from "../webhook-rows.ts";
import { forgetAttempts } from "./health.ts";
import { checkCipher } from "./secrets.ts";

/**
 * Creates a function that runs works one after the other, in the order of the calls: connections of a pool would race. Work that waited longer than `CALL_TIMEOUT_MS` for its turn is
 * refused: a blocked database must not gather calls.
 */
export function createInOrder(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const calledMs = performance.now();
    const result = last.then(() => {
      if (performance.now() - calledMs > CALL_TIMEOUT_MS) throw new PostgresError("POSTGRES_BUSY");
      return work();
    });
    last = result.catch(() => {});
    return result;
  };
}

type RegisterCommandDeps = {
  readonly postgres: Postgres;
  /** Cipher of the secrets in the database. */
  readonly cipher: SecretCipher;
  /** Returns the sequence of the newest event of the node's log. */
  readonly lastEvent: () => Promise<number>;
};

export function createPostgresRegisterCommands({
  postgres,
  cipher,
  lastEvent,
}: RegisterCommandDeps): RegisterCommands {
  const inOrder = createInOrder();
  const commit = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
    inOrder(() => postgres.transaction("READ WRITE", work));
  /** Gives the sequence to a change after which the webhook receives the events that are logged from here on. */
  const commitFrom = async <T>(work: (transaction: Transaction, after: number) => Promise<T>): Promise<T> => {
    const after = await lastEvent();
    return commit((transaction) => work(transaction, after));
  };
  return {
    insert: (webhook, limit) => commit((transaction) => insert(transaction, cipher, webhook, limit)),
    activate: (id, ping) => commitFrom((transaction, after) => activate(transaction, id, after, ping)),
    update: (id, change) =>
      commitFrom((transaction, after) => update(transaction, cipher, id, change, after)),
    rotate: (id, token, untilMs) => commit((transaction) => rotate(transaction, cipher, id, token, untilMs)),
    remove: (id) => commit((transaction) => remove(transaction, id)),
    resume: (id) => commitFrom((transaction, after) => resume(transaction, id, after)),
  };
}

/** Activates webhooks that a crash of their process left between the two steps of their creation. */
export async function activateWaiting(transaction: Transaction, after: number): Promise<void> {
  await runSteps(bumpVersion(sqlOf(transaction)));
  await transaction.change("UPDATE webhooks SET active_after = $1 WHERE active_after = $2", [after, NOT_YET]);
}

async function insert(
  transaction: Transaction,
  cipher: SecretCipher,
  { fields, token }: NewWebhookRow,
  webhookLimit: number,
): Promise<Webhook> {
  const { query, change } = transaction;
  await runSteps(bumpVersion(sqlOf(transaction)));
  await checkCipher(transaction, cipher);
  checkLimits(await sizeOf(query), [fields], webhookLimit);
  // The secret is written afterwards, because it is encrypted for the id.
  const [row] = await query<{ id: string }>(
    `INSERT INTO webhooks (${DEFINITION_COLUMNS}, token, active_after)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '', $11) RETURNING id`,
    [...definitionValues(fields), NOT_YET],
  );
  const id = Number(present(row, "the inserted row").id);
  await change(
    "WITH queue AS (INSERT INTO queues (webhook) VALUES ($1)) UPDATE webhooks SET token = $2 WHERE id = $1",
    [id, cipher.encrypt(token, ownerOf(id))],
  );
  return present(await findWebhook(query, id, cipher), "the inserted webhook");
}

/** Returns the size of the register without one webhook. */
async function sizeOf(query: Query, except = 0): Promise<{ count: number; conditionsBytes: number }> {
  const [row] = await query<{ count: number; bytes: string }>(
    `SELECT count(*)::integer AS count, coalesce(sum(octet_length(conditions)), 0) AS bytes
     FROM webhooks WHERE id <> $1`,
    [except],
  );
  return { count: row?.count ?? 0, conditionsBytes: Number(row?.bytes ?? 0) };
}

async function activate(
  transaction: Transaction,
  id: number,
  after: number,
  ping: NewPing | undefined,
): Promise<void> {
  await runSteps(bumpVersion(sqlOf(transaction)));
  await transaction.change("UPDATE webhooks SET active_after = $2 WHERE id = $1", [id, after]);
  if (!ping || !(await runSteps(lockQueue(sqlOf(transaction), id)))) return;
  await insertPing(transaction, ping);
  await runSteps(noteChange(sqlOf(transaction), id, false));
}

async function update(
  transaction: Transaction,
  cipher: SecretCipher,
  id: number,
  { changes, drop }: Update,
  after: number,
): Promise<Updated | undefined> {
  await runSteps(bumpVersion(sqlOf(transaction)));
  const before = await lockWebhook(transaction, id, cipher);
  if (!before) return undefined;
  const others = changes.conditions === undefined ? 0 : (await sizeOf(transaction.query, id)).conditionsBytes;
  const plan = planUpdate(before, changes, () => others);
  const dropped = drop ? await dropQueue(transaction, id, plan.isMoved, drop) : 0;
  await replace(transaction, before, plan.after, plan.wasActive ? undefined : after);
  if (plan.restarts) await runSteps(beginRestart(sqlOf(transaction), id));
  await runSteps(noteChange(sqlOf(transaction), id, plan.restarts));
  return { before, after: plan.after, restarts: plan.restarts, dropped };
}

/** Cancels pending deliveries of the webhook and its replay. Returns the number of deliveries. */
async function dropQueue(
  transaction: Transaction,
  id: number,
  withRetractions: boolean,
  { reason, atMs }: NonNullable<Update["drop"]>,
): Promise<number> {
  await runSteps(lockQueue(sqlOf(transaction), id));
  const [row] = await transaction.query<{ queued: string }>(
    `SELECT ${pendingCount("postgres", "$1")} AS queued`,
    [id],
  );
  await runSteps(endReplay(sqlOf(transaction), id, "cancelled", atMs, reason));
  await runSteps(beginFinish(sqlOf(transaction), id, { state: "cancelled", reason, withRetractions }, atMs));
  return Number(row?.queued ?? 0);
}

/** @param after sequence of the last event that the webhook does not receive; undefined: as before */
async function replace(
  transaction: Transaction,
  { id, target, enabled, suspended }: Webhook,
  fields: WebhookFields,
  after: number | undefined,
): Promise<void> {
  await transaction.change(
    `UPDATE webhooks SET (${DEFINITION_COLUMNS}) = ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11),
       active_after = coalesce($12, active_after),
       target_number = target_number + CASE WHEN target = $4 THEN 0 ELSE 1 END,
       failures = 0, failing_since_ms = NULL, suspended = NULL, suspended_ms = NULL WHERE id = $1`,
    [id, ...definitionValues(fields), after ?? null],
  );
  // Former attempts say nothing about another target, or one that was not called for some time.
  if (fields.target !== target || (fields.enabled && !enabled) || suspended)
    await forgetAttempts(transaction, id);
}

async function rotate(
  transaction: Transaction,
  cipher: SecretCipher,
  id: number,
  token: string,
  untilMs: number,
): Promise<Webhook | undefined> {
  await checkCipher(transaction, cipher);
  await transaction.change(
    "UPDATE webhooks SET previous_token = token, previous_until_ms = $2, token = $3 WHERE id = $1",
    [id, untilMs, cipher.encrypt(token, ownerOf(id))],
  );
  const rotated = await findWebhook(transaction.query, id, cipher);
  if (rotated) await runSteps(noteChange(sqlOf(transaction), id, false));
  return rotated;
}

async function remove(transaction: Transaction, id: number): Promise<boolean> {
  const { change } = transaction;
  await runSteps(bumpVersion(sqlOf(transaction)));
  if ((await change("DELETE FROM webhooks WHERE id = $1", [id])) === 0) return false;
  await change("INSERT INTO removed_webhooks VALUES ($1)", [id]);
  await runSteps(noteChange(sqlOf(transaction), id, false));
  return true;
}

async function resume(transaction: Transaction, id: number, after: number): Promise<void> {
  await runSteps(bumpVersion(sqlOf(transaction)));
  const resumed = await transaction.change(
    `UPDATE webhooks SET suspended = NULL, suspended_ms = NULL, failures = 0, failing_since_ms = NULL, active_after = $2
     WHERE id = $1 AND suspended IS NOT NULL`,
    [id, after],
  );
  if (resumed > 0) await forgetAttempts(transaction, id);
  await runSteps(beginRestart(sqlOf(transaction), id));
  await runSteps(noteChange(sqlOf(transaction), id, true));
}
