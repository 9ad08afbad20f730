/** Expected deliveries: the deliveries that a node would create from its own log of events, by its own rules. */
import { pino } from "pino";
import { type Database, openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import { EventLog } from "../../../src/store/events/event-log.ts";
import { NO_MATCHING_OBSERVER } from "../../../src/subscriptions/conditions/slices.ts";
import { createFit, MAX_CONTENT_BYTES } from "../../../src/subscriptions/content.ts";
import { READER } from "../../../src/webhooks/intake.ts";
import { DefinitionReader } from "../../../src/webhooks/matching/definitions.ts";
import { Matcher } from "../../../src/webhooks/matching/matcher.ts";
import { readNewWebhook } from "../../../src/webhooks/register/fields.ts";
import { SqliteIntake } from "../../../src/webhooks/sqlite/storage.ts";
import { createWebhookStore } from "../../webhooks/sqlite-register.ts";
import type { Subject } from "../actors/subject.ts";

export type ExpectedDelivery = {
  readonly webhook: number;
  readonly sequence: number;
  readonly id: string;
  readonly event: string;
  readonly reverts: string | null;
};

const COLUMNS = "sequence, id, name, height, block_id, created_ms, time_ms, reverts, data";
const logger = pino({ level: "silent" });

/** Returns the deliveries of the events after a sequence, from the complete log of a node, by webhook and in their order. */
export async function expectDeliveries(
  node: Database,
  network: string,
  webhooks: readonly Subject[],
  after: number,
): Promise<ReadonlyMap<number, readonly ExpectedDelivery[]>> {
  const database = openDatabase(":memory:");
  try {
    migrate(database);
    copyEvents(node, database, after);
    const store = createWebhookStore(database);
    for (const { id, last, receiver } of webhooks) {
      const { ping: _, ...fields } = readNewWebhook({ ...last.kind.body, target: receiver.url });
      if (store.insert(fields, "").id !== id) throw new Error(`the copy of webhook ${id} has another id`);
      store.activate(id, after);
    }
    const eventLog = new EventLog(database, { recordedNames: () => new Set() });
    eventLog.moveCursor(READER, after);
    const intake = new SqliteIntake({ database, eventLog });
    const matcher = new Matcher({
      ...{ network, intake, logger, nowMs: Date.now, observer: NO_MATCHING_OBSERVER },
      definitions: new DefinitionReader(intake, logger),
      fit: createFit(MAX_CONTENT_BYTES),
    });
    while ((await matcher.step()).more);
    const rows = database.prepare<ExpectedDelivery>(
      "SELECT webhook, sequence, id, event, reverts FROM deliveries ORDER BY webhook, sequence",
    );
    return Map.groupBy(rows.all(), ({ webhook }) => webhook);
  } finally {
    database.close();
  }
}

function copyEvents(node: Database, database: Database, after: number): void {
  const sql = `SELECT ${COLUMNS} FROM events WHERE sequence > +? ORDER BY sequence`;
  const rows = node.prepare<(string | number | null)[]>(sql, { arrays: true }).all(after);
  const insert = database.prepare(`INSERT INTO events (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  database.transaction(() => {
    for (const row of rows) insert.run(...row);
  });
}
