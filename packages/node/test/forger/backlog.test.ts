import { expect, test } from "vitest";
import { openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { SlotStore } from "../../src/store/node/slots.ts";

test("Reasons that cannot be written are queued in order until they can.", () => {
  const database = openDatabase(":memory:");
  migrate(database);
  const failures: unknown[] = [];
  const store = new SlotStore(database, (error) => failures.push(error));
  database.execute("ALTER TABLE missed_slots RENAME TO hidden");
  store.recordMissed("key", 1, "disk full");
  store.recordMissed("key", 2, "disk full");
  expect(failures).toHaveLength(2);
  database.execute("ALTER TABLE hidden RENAME TO missed_slots");
  store.recordForged("key", 3, "block");
  expect(store.missed(10).map(({ slot }) => slot)).toEqual([2, 1]);
  database.close();
});
