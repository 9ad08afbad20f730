/** The intake in SQLite. Each batch is one transaction, with the cursor of the event log or the position of the replay. */
import { present } from "../../platform/present.ts";
import type { Database } from "../../store/engine/database.ts";
import type { EventLog } from "../../store/events/event-log.ts";
import { type Applied, type Intake, type IntakeBatch, READER } from "../intake.ts";
import { applyCommands } from "../storage/intake-commands.ts";
import { advanceReplay, isSame, lockReplay } from "../storage/replays.ts";
import { countReverts, unretracted } from "../storage/retractions.ts";
import type { Reads } from "../storage/sql.ts";
import { confirmedAt } from "../storage/unconfirmed-events.ts";
import { activeWebhooks } from "../storage/webhooks.ts";
import { runNow, sqlOf } from "./sql.ts";

type IntakeDeps = {
  readonly database: Database;
  readonly eventLog: Pick<EventLog, "read" | "cursor" | "moveCursor" | "hasRetractionAfter">;
};

export function createSqliteIntake(deps: IntakeDeps): Intake {
  const { database, eventLog } = deps;
  const sql = sqlOf(database);
  return {
    async activeWebhooks(known) {
      const version = readVersion(sql);
      return version === known ? undefined : { version, webhooks: runNow(activeWebhooks(sql, [])) };
    },
    nextEvents: async (limit) => eventLog.read(matchedIn(eventLog), limit),
    canReplay: async () => canReplay(eventLog),
    countReverts: async (blockIds, before) => runNow(countReverts(sql, blockIds, before)),
    unretracted: async (blocks, limit) => runNow(unretracted(sql, [], blocks, limit)),
    confirmedAt: async (heights, limit) => runNow(confirmedAt(sql, [], heights, limit)),
    apply: async (batch) => database.transaction(() => apply(deps, batch), survivalOf(batch)),
  };
}

const matchedIn = ({ cursor }: Pick<EventLog, "cursor">): number => cursor(READER) ?? 0;

const canReplay = (eventLog: IntakeDeps["eventLog"]): boolean =>
  !eventLog.hasRetractionAfter(matchedIn(eventLog));

const readVersion = (sql: Reads): number =>
  present(runNow(sql.row<{ version: number }>("SELECT version FROM webhook_register")), "the register")
    .version;

/** A range of a replay without events may be read again after a power loss. */
const survivalOf = ({ commands, position }: IntakeBatch) =>
  position.reader === "replay" && commands.length === 0 ? "process death" : "power loss";

const NOT_CURRENT: Applied = { isCurrent: false, webhooks: [] };

function apply({ database, eventLog }: IntakeDeps, batch: IntakeBatch): Applied {
  const { registerVersion, atMs, commands, position } = batch;
  const sql = sqlOf(database);
  if (readVersion(sql) !== registerVersion) return NOT_CURRENT;
  if (position.reader === "log") {
    const { webhooks } = runNow(applyCommands(sql, commands, { atMs, shards: [] }));
    if (position.matched !== undefined) eventLog.moveCursor(READER, position.matched);
    return { isCurrent: true, webhooks };
  }
  const replay = runNow(lockReplay(sql, position.replay.webhook));
  if (!replay || !isSame(replay, position.replay) || !canReplay(eventLog)) return NOT_CURRENT;
  const { webhooks, events } = runNow(applyCommands(sql, commands, { atMs, shards: [], replay }));
  runNow(advanceReplay(sql, replay.webhook, { ...position.next, events }));
  return { isCurrent: true, webhooks };
}
