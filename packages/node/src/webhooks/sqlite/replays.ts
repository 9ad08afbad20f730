/** Replays: one range of the chain for each webhook, and its progress. */
import type { Database } from "../../store/engine/database.ts";
import type { Replay, ReplayPosition } from "../model/replay.ts";
import { IS_ON } from "./deliveries.ts";

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
