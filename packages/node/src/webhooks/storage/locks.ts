/**
 * Locks and notes for a database that several processes change: locks of queues, changes of queues that the owner of their webhooks must
 * notice, and the version of the register. SQLite has one process, and triggers that change the version.
 */
import { present } from "../../platform/present.ts";
import type { Reads, Sql, Steps } from "./sql.ts";

/** Locks the queue of a webhook until the end of the transaction; returns `false` if the webhook was removed. */
export function* lockQueue(sql: Reads, webhook: number): Steps<boolean> {
  const row = yield* sql.row("SELECT 1 FROM queues WHERE webhook = $1 FOR UPDATE", [webhook]);
  return row !== undefined;
}

/**
 * Reports a change to the owner of the webhook. Must be the last statement of its transaction, because it locks a row.
 *
 * @param isRestart true if the queue restarts from its first delivery
 */
export function* noteChange(sql: Sql, webhook: number, isRestart: boolean): Steps<void> {
  if (sql.kind === "sqlite") return;
  // Locks the row of an earlier change: the owner must not remove it before it can see this change.
  yield* sql.change(
    `INSERT INTO queue_changes (webhook, is_restart) VALUES ($1, $2)
     ON CONFLICT (webhook, is_restart) DO UPDATE SET is_restart = EXCLUDED.is_restart`,
    [webhook, isRestart],
  );
}

export type Requeued = {
  /** Number of deliveries that were put into the queue. */
  readonly count: number;
  /** Last number that was read; absent at the end. */
  readonly last?: number;
};

/** Changes deliveries of a webhook, and reports the change to its owner; changes nothing if the webhook was removed. */
export function* changeQueue(sql: Sql, webhook: number, change: Steps<Requeued>): Steps<Requeued> {
  if (!(yield* lockQueue(sql, webhook))) return { count: 0 };
  const changed = yield* change;
  if (changed.count > 0) yield* noteChange(sql, webhook, false);
  return changed;
}

/** Increments the version of the register, and locks it for all others until the end of the transaction. */
export function* bumpVersion(sql: Sql): Steps<void> {
  if (sql.kind === "postgres") yield* sql.change("UPDATE webhook_register SET version = version + 1");
}

/** Returns the version of the register, which changes whenever the active webhooks, or the owner of any, may have changed. */
export const readVersion = (sql: Reads): Steps<number> => selectVersion(sql, "");

/**
 * Returns the version, which stays until the end of the transaction.
 *
 * @param isChanging true if the transaction will call `bumpVersion`: a shared lock could not be extended while others have one
 */
export const lockVersion = (sql: Reads, isChanging = false): Steps<number> =>
  selectVersion(sql, isChanging ? "FOR NO KEY UPDATE" : "FOR SHARE");

function* selectVersion(sql: Reads, lock: "" | "FOR NO KEY UPDATE" | "FOR SHARE"): Steps<number> {
  const row = yield* sql.row<{ version: number }>(`SELECT version FROM webhook_register ${lock}`);
  return present(row, "the row of the register").version;
}
