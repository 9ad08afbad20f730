/** Replays: one range of the chain for each webhook, its progress, and the lane of its deliveries. */
import type { Database } from "../../store/engine/database.ts";
import type { ReplayedDelivery } from "../model/deliveries.ts";
import type { Replay, ReplayPosition } from "../model/replay.ts";
import { PLAIN_SECRETS, type SecretCipher } from "../secrets.ts";
import { IS_ON, type WaitingRow, waitingFromRow, waitingIn } from "./deliveries.ts";

export type ReplayStore = {
  /** Starts a replay, which replaces the last one of the webhook. */
  start(webhook: number, range: { fromHeight: number; toHeight: number }, atMs: number): void;
  /** Returns the last replay of the webhook. */
  find(webhook: number): Replay | undefined;
  /**
   * Returns the next running replay with work to do, round-robin by webhook, starting after `after`: it has blocks to read
   * and at most `maxWaiting` pending deliveries, or it can be finished. Skips webhooks that are off.
   */
  next(after: number, maxWaiting: number): Replay | undefined;
  advance(webhook: number, position: ReplayPosition): void;
  /** Ends the running replay; a replay that has already ended is not changed. */
  end(webhook: number, state: "finished" | "cancelled", atMs: number, reason?: string): void;
};

type ReplayRow = Omit<Replay, "reason" | "finishedMs"> & { reason: string | null; finishedMs: number | null };

const SELECT = `SELECT webhook, from_height AS fromHeight, to_height AS toHeight, next_height AS nextHeight,
  next_index AS nextIndex, events, last_delivery AS lastDelivery, state, reason, started_ms AS startedMs,
  finished_ms AS finishedMs FROM replays`;

export function createReplayStore(database: Database): ReplayStore {
  const start = database.prepare(
    `INSERT OR REPLACE INTO replays
     SELECT ?, ?, ?, ?, 0, 0, coalesce(max(number), 0), 'running', NULL, ?, NULL FROM deliveries`,
  );
  const find = database.prepare<ReplayRow>(`${SELECT} WHERE webhook = ?`);
  const next = database.prepare<ReplayRow>(
    `${SELECT} JOIN queues USING (webhook) WHERE state = 'running'
     AND webhook IN (SELECT id FROM webhooks WHERE ${IS_ON})
     AND replaying <= iif(next_height > to_height, 0, ?) ORDER BY webhook <= ?, webhook LIMIT 1`,
  );
  const advance = database.prepare(
    "UPDATE replays SET next_height = ?, next_index = ?, events = ? WHERE webhook = ?",
  );
  const end = database.prepare(
    `UPDATE replays SET state = ?, reason = ?, finished_ms = ? WHERE webhook = ? AND state = 'running'`,
  );
  return {
    start: (webhook, { fromHeight, toHeight }, atMs) =>
      void start.run(webhook, fromHeight, toHeight, fromHeight, atMs),
    find(webhook) {
      const row = find.get(webhook);
      return row && replayFromRow(row);
    },
    next(after, maxWaiting) {
      const row = next.get(maxWaiting, after);
      return row && replayFromRow(row);
    },
    advance: (webhook, { nextHeight, nextIndex, events }) =>
      void advance.run(nextHeight, nextIndex, events, webhook),
    end: (webhook, state, atMs, reason) => void end.run(state, reason ?? null, atMs, webhook),
  };
}

const replayFromRow = ({ reason, finishedMs, ...row }: ReplayRow): Replay => ({
  ...row,
  ...(reason !== null && { reason }),
  ...(finishedMs !== null && { finishedMs }),
});

/** The replay lane of a webhook: a second queue with its own positions. */
export type ReplayQueue = {
  /** Returns the number of pending deliveries of the webhook. */
  waiting(webhook: number): number;
  /** Returns the first delivery after a position. */
  next(webhook: number, after: number): ReplayedDelivery | undefined;
  /** Puts a finished delivery into the lane, if its number is at most `upTo`. */
  putAgain(webhook: number, delivery: { id: string; position: number; upTo: number }): boolean;
  /** Cancels all pending deliveries. */
  cancel(webhook: number, reason: string, atMs: number): void;
};

/** @param cipher cipher of the webhooks' secrets */
export function createReplayQueue(database: Database, cipher: SecretCipher = PLAIN_SECRETS): ReplayQueue {
  const waiting = database.prepare<{ total: number }>(
    "SELECT replaying AS total FROM queues WHERE webhook = ?",
  );
  const next = database.prepare<WaitingRow & { replay: number; next_attempt_ms: number | null }>(
    `${waitingIn("replay")} AND replay IS NOT NULL AND replay > ? ORDER BY replay LIMIT 1`,
  );
  const putAgain = database.prepare(
    `UPDATE deliveries SET state = 'pending', attempts = 0, next_attempt_ms = NULL, finished_ms = NULL, reason = NULL,
     replay = ?, target_number = coalesce((SELECT target_number FROM webhooks WHERE id = webhook), target_number)
     WHERE webhook = ? AND id = ? AND number <= ? AND state <> 'pending'`,
  );
  const cancel = database.prepare(
    `UPDATE deliveries SET state = 'cancelled', next_attempt_ms = NULL, reason = ?, finished_ms = ?
     WHERE webhook = +? AND state = 'pending' AND replay IS NOT NULL`,
  );
  return {
    waiting: (webhook) => waiting.get(webhook)?.total ?? 0,
    next(webhook, after) {
      const row = next.get(webhook, after);
      return (
        row && {
          ...waitingFromRow(row, cipher),
          position: row.replay,
          ...(row.next_attempt_ms !== null && { nextAttemptMs: row.next_attempt_ms }),
        }
      );
    },
    putAgain: (webhook, { id, position, upTo }) => putAgain.run(position, webhook, id, upTo).changes > 0,
    cancel: (webhook, reason, atMs) => void cancel.run(reason, atMs, webhook),
  };
}
