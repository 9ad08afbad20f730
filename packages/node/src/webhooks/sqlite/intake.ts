/** The intake in SQLite. Each batch is one transaction, with the cursor of the event log or the position of the replay. */
import type { Database } from "../../store/engine/database.ts";
import type { EventLog } from "../../store/events/event-log.ts";
import { type Intake, type IntakeBatch, READER } from "../intake.ts";
import { applyBatch, type EventPosition } from "../storage/intake-batch.ts";
import { readVersion } from "../storage/locks.ts";
import { countReverts, unretracted } from "../storage/retractions.ts";
import { confirmedAt } from "../storage/unconfirmed-events.ts";
import { activeWebhooks } from "../storage/webhooks.ts";
import { runNow, sqlOf, toSteps } from "./sql.ts";

type IntakeDeps = {
  readonly database: Database;
  readonly eventLog: Pick<EventLog, "read" | "cursor" | "moveCursor" | "hasRetractionAfter">;
};

export function createSqliteIntake({ database, eventLog }: IntakeDeps): Intake {
  const sql = sqlOf(database);
  const matched = () => eventLog.cursor(READER) ?? 0;
  const canReplay = () => !eventLog.hasRetractionAfter(matched());
  const position: EventPosition = {
    lock: () => toSteps(() => []),
    canReplay: () => toSteps(canReplay),
    move: (_sql, sequence) => toSteps(() => eventLog.moveCursor(READER, sequence)),
  };
  return {
    async activeWebhooks(known) {
      const version = runNow(readVersion(sql));
      return version === known ? undefined : { version, webhooks: runNow(activeWebhooks(sql, [])) };
    },
    nextEvents: async (limit) => eventLog.read(matched(), limit),
    canReplay: async () => canReplay(),
    countReverts: async (blockIds, before) => runNow(countReverts(sql, blockIds, before)),
    unretracted: async (blocks, limit) => runNow(unretracted(sql, [], blocks, limit)),
    confirmedAt: async (heights, limit) => runNow(confirmedAt(sql, [], heights, limit)),
    apply: async (batch) =>
      database.transaction(() => runNow(applyBatch(sql, batch, position)), survivalOf(batch)),
  };
}

/** A range of a replay without events may be read again after a power loss. */
const survivalOf = ({ commands, position }: IntakeBatch) =>
  position.reader === "replay" && commands.length === 0 ? "process death" : "power loss";
