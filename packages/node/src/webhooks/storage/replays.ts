/** Replays as rows: one range of the chain for each webhook, and its progress. */
import { withoutNulls } from "../../platform/without-nulls.ts";
import { CANCELLATION, type Replay, type ReplayPosition, type ReplayProgress } from "../model/replay.ts";
import { IS_ON, isIn, isOneOf, rowsIn } from "./lanes.ts";
import { lockQueue, noteChange } from "./locks.ts";
import { isOwned } from "./shards.ts";
import type { Kind, Nullable, Reads, Sql, Steps, Store } from "./sql.ts";

const COLUMNS = `replays.webhook, from_height AS "fromHeight", to_height AS "toHeight", next_height AS "nextHeight",
  next_index AS "nextIndex", replays.events, last_delivery AS "lastDelivery", replays.state, reason, started_ms AS "startedMs",
  finished_ms AS "finishedMs"`;
type ReplayRow = Nullable<Replay>;

/** Returns SQL for the number of deliveries in the lane of a replay. */
const waitingIn = (kind: Kind): string =>
  kind === "sqlite"
    ? "(SELECT replaying FROM queues WHERE queues.webhook = replays.webhook)"
    : `(SELECT count(*) FROM ${rowsIn(kind, "replay", "replays.webhook")})`;

/** The latest replay of each webhook. */
export class ReplayRows {
  readonly #store: Store;
  readonly #shards: () => readonly number[];

  /** @param shards returns the shards whose replays this process continues */
  constructor(store: Store, shards: () => readonly number[] = () => []) {
    this.#store = store;
    this.#shards = shards;
  }

  /** Starts a replay, replacing the last one of the webhook; resolves to `false` if that one is running. */
  start(
    webhook: number,
    { fromHeight, toHeight }: { readonly fromHeight: number; readonly toHeight: number },
    atMs: number,
  ): Promise<boolean> {
    return this.#store.write(function* (sql) {
      // Deliveries that others insert now have greater numbers than the last one before the replay.
      yield* sql.row(
        `SELECT 1 FROM webhooks JOIN queues ON webhook = id WHERE id = $1
         FOR KEY SHARE OF webhooks FOR UPDATE OF queues`,
        [webhook],
      );
      const last = yield* sql.row<Pick<Replay, "state">>("SELECT state FROM replays WHERE webhook = $1", [
        webhook,
      ]);
      if (last?.state === "running") return false;
      yield* sql.change("DELETE FROM replays WHERE webhook = $1", [webhook]);
      yield* sql.change(
        `INSERT INTO replays SELECT id, $2, $3, $2, 0, 0,
           (SELECT coalesce(max(number), 0) FROM deliveries WHERE webhook = $1), 'running', NULL, $4, NULL
         FROM webhooks WHERE id = $1`,
        [webhook, fromHeight, toHeight, atMs],
      );
      yield* noteChange(sql, webhook, false);
      return true;
    });
  }

  /** Returns the last replay of the webhook, and the number of its pending deliveries. */
  find(webhook: number): Promise<ReplayProgress | undefined> {
    return this.#store.read(function* (sql) {
      const row = yield* sql.row<Nullable<ReplayProgress>>(
        `SELECT ${COLUMNS}, ${waitingIn(sql.kind)} AS waiting FROM replays WHERE webhook = $1`,
        [webhook],
      );
      return row && withoutNulls(row);
    });
  }

  /**
   * Returns the next running replay with work to do, round-robin by webhook, starting after `after`: it has blocks to read
   * and at most `maxWaiting` pending deliveries, or it can be finished. Skips webhooks that are off.
   */
  next(after: number, maxWaiting: number): Promise<Replay | undefined> {
    const shards = this.#shards();
    return this.#store.read(function* (sql) {
      const row = yield* sql.row<ReplayRow>(
        `SELECT ${COLUMNS} FROM replays JOIN webhooks ON webhooks.id = replays.webhook AND ${IS_ON}
         WHERE replays.state = 'running' AND ${isOwned(sql.kind, "replays.webhook", "$3")}
           AND ${waitingIn(sql.kind)} <= CASE WHEN next_height > to_height THEN 0 ELSE $2 END
         ORDER BY replays.webhook <= $1, replays.webhook LIMIT 1`,
        [after, maxWaiting, shards],
      );
      return row && withoutNulls(row);
    });
  }

  /** Finishes the replay: all of its events were delivered or have failed. */
  finish(webhook: number, atMs: number): Promise<void> {
    return this.#store.write((sql) => endReplay(sql, webhook, "finished", atMs));
  }

  /** Cancels a running replay and its pending deliveries, of which the replay worker limits the number. */
  cancel(webhook: number, atMs: number): Promise<void> {
    return this.#store.write(function* (sql) {
      yield* lockQueue(sql, webhook);
      yield* cancelDeliveries(sql, webhook, atMs);
      yield* endReplay(sql, webhook, "cancelled", atMs, CANCELLATION.replay);
      yield* noteChange(sql, webhook, false);
    });
  }
}

function* cancelDeliveries(sql: Sql, webhook: number, atMs: number): Steps<void> {
  const { kind } = sql;
  const waiting = `SELECT number FROM ${rowsIn(kind, "replay", "$1")}`;
  const pending = `SELECT number FROM deliveries WHERE number ${isOneOf(kind, waiting)} AND ${isIn(kind, "replay")}
    ORDER BY number FOR UPDATE`;
  yield* sql.change(
    `UPDATE deliveries SET state = 'cancelled', next_attempt_ms = NULL, reason = $2, finished_ms = $3
     WHERE number ${isOneOf(kind, pending)}`,
    [webhook, CANCELLATION.deliveries, atMs],
  );
}

/** Returns the last replay of the webhook, and locks its queue and the replay. */
export function* lockReplay(sql: Reads, webhook: number): Steps<Replay | undefined> {
  const row = yield* sql.row<ReplayRow>(
    `SELECT ${COLUMNS} FROM queues JOIN replays USING (webhook) WHERE webhook = $1
     FOR UPDATE OF queues FOR UPDATE OF replays`,
    [webhook],
  );
  return row && withoutNulls(row);
}

/** Returns whether a replay is still running at the position of a step. */
export const isSame = (current: Replay, { nextHeight, nextIndex, lastDelivery }: Replay): boolean =>
  current.state === "running" &&
  current.nextHeight === nextHeight &&
  current.nextIndex === nextIndex &&
  current.lastDelivery === lastDelivery;

export function* advanceReplay(
  sql: Sql,
  webhook: number,
  { nextHeight, nextIndex, events }: ReplayPosition,
): Steps<void> {
  yield* sql.change("UPDATE replays SET next_height = $2, next_index = $3, events = $4 WHERE webhook = $1", [
    webhook,
    nextHeight,
    nextIndex,
    events,
  ]);
}

/** Ends the running replay; a replay that has already ended is not changed. */
export function* endReplay(
  sql: Sql,
  webhook: number,
  state: "finished" | "cancelled",
  atMs: number,
  reason?: string,
): Steps<void> {
  yield* sql.change(
    "UPDATE replays SET state = $2, reason = $3, finished_ms = $4 WHERE webhook = $1 AND state = 'running'",
    [webhook, state, reason ?? null, atMs],
  );
}
