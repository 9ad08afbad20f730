/**
 * Changes of whole queues: all pending deliveries are finished without being sent, or retries become first attempts again, with
 * the full schedule of retries. Works on a range at a time, so that no other writer waits for long; the queue sends no deliveries
 * until the last range.
 */
import { present } from "../../platform/present.ts";
import type { Database } from "../../store/engine/database.ts";
import type { FinishStep } from "../delivery-queue.ts";
import type { Finish } from "../model/deliveries.ts";

type FinishedDeliveryStore = {
  /** Finishes the pending deliveries and unconfirmed events; `step` processes the rest. */
  begin(webhook: number, finish: Finish, atMs: number): void;
  /** Leaves all work of `begin` to `step`, for many webhooks at once. */
  schedule(webhook: number, finish: Finish): void;
  /** Continues with an unfinished queue; returns its webhook once the queue is finished. */
  step(atMs: number): FinishStep;
};

/** Maximum rows to change per step: some milliseconds of the writer. */
const ROWS_AT_ONCE = 1_000;

type FinishRow = {
  webhook: number;
  up_to: number;
  unconfirmed_up_to: number;
  state: Finish["state"];
  reason: string;
  with_retractions: number;
};

export function createFinishedDeliveryStore(database: Database): FinishedDeliveryStore {
  const insert = database.prepare(
    `INSERT INTO finishing_queues SELECT ?, (SELECT coalesce(max(number), 0) FROM deliveries),
       (SELECT coalesce(max(sequence), 0) FROM unconfirmed_events WHERE webhook = +?), ?, ?, ?
     ON CONFLICT (webhook) DO UPDATE SET up_to = excluded.up_to, unconfirmed_up_to = excluded.unconfirmed_up_to,
       state = excluded.state, reason = excluded.reason, with_retractions = max(with_retractions, excluded.with_retractions)`,
  );
  const next = database.prepare<FinishRow>("SELECT * FROM finishing_queues ORDER BY webhook LIMIT 1");
  const find = database.prepare<FinishRow>("SELECT * FROM finishing_queues WHERE webhook = ?");
  const remove = database.prepare("DELETE FROM finishing_queues WHERE webhook = ?");
  // First attempts, retries and replays: each by its own index, which the planner would not choose.
  const finishSome = [
    ["deliveries_first", "next_attempt_ms IS NULL AND replay IS NULL"],
    ["deliveries_retry", "next_attempt_ms IS NOT NULL AND replay IS NULL"],
    ["deliveries_replay", "replay IS NOT NULL"],
  ].map(([index, queue]) =>
    database.prepare(
      `UPDATE deliveries SET state = ?, next_attempt_ms = NULL, reason = ?, finished_ms = ? WHERE number IN
       (SELECT number FROM deliveries INDEXED BY ${index} WHERE webhook = +? AND state = 'pending' AND ${queue}
        AND number <= ? AND (? OR reverts IS NULL) LIMIT ${ROWS_AT_ONCE})`,
    ),
  );
  const dropUnconfirmed = database.prepare(
    `DELETE FROM unconfirmed_events WHERE webhook = +? AND sequence IN
     (SELECT sequence FROM unconfirmed_events WHERE webhook = +? AND sequence <= ? LIMIT ${ROWS_AT_ONCE})`,
  );

  /** Finishes rows; returns `false` if some remain. */
  function finishRows(
    { webhook, up_to, unconfirmed_up_to, state, reason, with_retractions }: FinishRow,
    atMs: number,
  ): boolean {
    const changes = [
      ...finishSome.map((queue) => queue.run(state, reason, atMs, webhook, up_to, with_retractions).changes),
      dropUnconfirmed.run(webhook, webhook, unconfirmed_up_to).changes,
    ];
    if (changes.includes(ROWS_AT_ONCE)) return false;
    remove.run(webhook);
    return true;
  }

  const schedule: FinishedDeliveryStore["schedule"] = (webhook, { state, reason, withRetractions = false }) =>
    void insert.run(webhook, webhook, state, reason, Number(withRetractions));

  return {
    begin: (webhook, finish, atMs) =>
      database.transaction(() => {
        schedule(webhook, finish);
        finishRows(present(find.get(webhook), "the row of the schedule"), atMs);
      }),
    schedule,
    step(atMs) {
      const row = next.get();
      if (!row) return { more: false };
      const isFinished = database.transaction(() => finishRows(row, atMs));
      return { more: true, ...(isFinished && { webhook: row.webhook }) };
    },
  };
}

type RestartedQueueStore = {
  /** Restarts the queue; `step` processes the rest. Must be called in a transaction. */
  begin(webhook: number): void;
  /** Continues with a queue; returns its webhook once the queue is complete. */
  step(): FinishStep;
};

export function createRestartedQueueStore(database: Database): RestartedQueueStore {
  const insert = database.prepare("INSERT OR IGNORE INTO restarting_queues VALUES (?)");
  const next = database.prepare<{ webhook: number }>(
    "SELECT webhook FROM restarting_queues ORDER BY webhook LIMIT 1",
  );
  const remove = database.prepare("DELETE FROM restarting_queues WHERE webhook = ?");
  // Retries and replays: each by its own index, which the planner would not choose.
  const restartSome = [
    ["deliveries_retry", "replay IS NULL"],
    ["deliveries_replay", "replay IS NOT NULL"],
  ].map(([index, queue]) =>
    database.prepare(
      `UPDATE deliveries SET next_attempt_ms = NULL, attempts = 0, reason = NULL WHERE number IN
       (SELECT number FROM deliveries INDEXED BY ${index} WHERE webhook = +? AND state = 'pending' AND ${queue}
        AND next_attempt_ms IS NOT NULL LIMIT ${ROWS_AT_ONCE})`,
    ),
  );

  /** Restarts rows; returns `false` if some remain. */
  function restart(webhook: number): boolean {
    const changes = restartSome.map((queue) => queue.run(webhook).changes);
    if (changes.includes(ROWS_AT_ONCE)) return false;
    remove.run(webhook);
    return true;
  }

  return {
    begin(webhook) {
      insert.run(webhook);
      restart(webhook);
    },
    step() {
      const row = next.get();
      if (!row) return { more: false };
      const isComplete = database.transaction(() => restart(row.webhook));
      return { more: true, ...(isComplete && { webhook: row.webhook }) };
    },
  };
}
