/** Suites of the delivery queue, its intake and the register on SQLite. */
import { onTestFinished } from "vitest";
import { EVENTS } from "../../../src/events/catalogue.ts";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import { EventLog } from "../../../src/store/events/event-log.ts";
import { openSqliteStorage } from "../../../src/webhooks/sqlite/storage.ts";
import { databasePath } from "../../../test-support/webhooks/support.ts";
import { describeIntake } from "./intake-suite.ts";
import { describeRegister } from "./register-suite.ts";
import { addWebhook, type Subject } from "./subject.ts";
import { describeDeliveryQueue } from "./suite.ts";

async function open(path = databasePath()): Promise<Subject> {
  const database = openDatabase(path);
  onTestFinished(database.close);
  migrate(database);
  const eventLog = new EventLog(database, { recordedNames: () => new Set(Object.keys(EVENTS)) });
  const storage = openSqliteStorage({ database, eventLog });
  return {
    ...storage,
    addWebhook: (fields) => addWebhook(storage.register, fields),
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
describeRegister("SQLite", () => open());
