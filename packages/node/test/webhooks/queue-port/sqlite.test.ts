/** Suites of the delivery queue and its intake on SQLite. */
import { onTestFinished } from "vitest";
import { EVENTS } from "../../../src/events/catalogue.ts";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import { createEventLog } from "../../../src/store/events/event-log.ts";
import { openSqliteStorage } from "../../../src/webhooks/sqlite/storage.ts";
import { databasePath } from "../../../test-support/webhooks/support.ts";
import { describeIntake } from "./intake-suite.ts";
import type { Subject } from "./subject.ts";
import { describeDeliveryQueue } from "./suite.ts";

const FIELDS = {
  event: "block.applied",
  events: [],
  target: "https://receiver.example/hook",
  enabled: true,
  conditions: "[]",
  match: "any",
  order: "parallel",
  confirmations: 0,
} as const;
const TOKEN = "5".repeat(64);

async function open(path = databasePath()): Promise<Subject> {
  const database = openDatabase(path);
  onTestFinished(database.close);
  migrate(database);
  const eventLog = createEventLog(database, { recordedNames: () => new Set(Object.keys(EVENTS)) });
  const storage = openSqliteStorage({ database, eventLog });
  const { webhooks } = storage.register;
  return {
    ...storage,
    async addWebhook(fields) {
      const { id } = webhooks.insert({ ...FIELDS, ...fields }, TOKEN);
      webhooks.activate(id, 0);
      return id;
    },
    async append(events) {
      database.transaction(() => eventLog.append(events));
    },
    async holdUp() {
      const other = openDatabase(path);
      other.execute("BEGIN IMMEDIATE");
      return async () => other.close();
    },
    crash: () => open(path),
  };
}

describeDeliveryQueue("SQLite", () => open());
describeIntake("SQLite", () => open());
