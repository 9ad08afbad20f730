/**
 * Restarts the queue of a webhook: its retries become first attempts again, in order and with the full schedule of retries.
 * Works on a range at a time, so that no other writer waits for long; the queue sends no deliveries until the last range.
 */
import type { Database } from "../../store/engine/database.ts";
import type { FinishStep } from "../delivery-queue.ts";

export type RestartedQueueStore = {
  /** Restarts the queue; `step` processes the rest. Must be called in a transaction. */
  begin(webhook: number): void;
  /** Continues with a queue; returns its webhook once the queue is complete. */
  step(): FinishStep;
};

/** Maximum rows to change per step: some milliseconds of the writer. */
const ROWS_AT_ONCE = 1_000;

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
