/** Applies a batch of the intake with its position in the events or in a replay, or nothing if the batch is not current. */
import type { Applied, IntakeBatch } from "../intake.ts";
import { applyCommands } from "./intake-commands.ts";
import { lockVersion } from "./locks.ts";
import { advanceReplay, isSame, lockReplay } from "./replays.ts";
import type { Reads, Sql, Steps } from "./sql.ts";

/** The position of the webhooks of a batch in the events. */
export type EventPosition = {
  /** Locks the position until the end of the transaction. Returns its shards; undefined if another process owns one of them. */
  lock(sql: Sql): Steps<readonly number[] | undefined>;
  /** See `Intake.canReplay`. */
  canReplay(sql: Reads): Steps<boolean>;
  move(sql: Sql, matched: number): Steps<unknown>;
};

export const NOT_CURRENT: Applied = { isCurrent: false, webhooks: [] };

export function* applyBatch(
  sql: Sql,
  { registerVersion, atMs, commands, position }: IntakeBatch,
  events: EventPosition,
): Steps<Applied> {
  const shards = yield* events.lock(sql);
  if (!shards) return NOT_CURRENT;
  // Two transactions with shared locks could not both change the version.
  const changesRegister = commands.some(({ kind }) => kind === "suspend");
  if ((yield* lockVersion(sql, changesRegister)) !== registerVersion) return NOT_CURRENT;
  if (position.reader === "log") {
    const { webhooks } = yield* applyCommands(sql, commands, { atMs, shards });
    if (position.matched !== undefined) yield* events.move(sql, position.matched);
    return { isCurrent: true, webhooks };
  }
  const replay = yield* lockReplay(sql, position.replay.webhook);
  if (!replay || !isSame(replay, position.replay) || !(yield* events.canReplay(sql))) return NOT_CURRENT;
  const applied = yield* applyCommands(sql, commands, { atMs, shards, replay });
  yield* advanceReplay(sql, replay.webhook, { ...position.next, events: applied.events });
  return { isCurrent: true, webhooks: applied.webhooks };
}
