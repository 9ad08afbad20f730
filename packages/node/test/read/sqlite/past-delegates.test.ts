import { expect, onTestFinished, test } from "vitest";
import { Chunks, TimeBox } from "../../../src/read/sqlite/lists/time-box.ts";
import { HistoryQueries } from "../../../src/read/sqlite/tables/history.ts";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";

const DELEGATES = 200;
const MAX_MS = 50;

test("Delegates of an earlier state are read in a time box, and not again for a while when its time is up.", () => {
  const database = openDatabase(":memory:");
  onTestFinished(() => database.close());
  migrate(database);
  const insert = database.prepare("INSERT INTO wallets VALUES (?, NULL, 0, 0, NULL, ?, NULL, ?)");
  for (let number = 0; number < DELEGATES; number++) {
    const username = `delegate${number}`;
    insert.run(`address${number}`, username, JSON.stringify({ delegate: { username, voteBalance: "0" } }));
  }
  let checks = 0;
  let stepMs = 1;
  const time = new TimeBox(MAX_MS, () => stepMs * checks++);
  const head = () => ({ id: "1", height: 100, timestamp: 0 });
  const deps = { database, head, time, chunks: new Chunks(database, time), onPlan: undefined };
  const { delegates } = new HistoryQueries(deps).at(1);
  time.begin();
  expect(() => delegates.all()).toThrow(expect.objectContaining({ code: "SNAPSHOT_TIMEOUT" }));
  expect(checks).toBeLessThan(DELEGATES);
  const before = checks;
  expect(() => delegates.all()).toThrow(expect.objectContaining({ code: "SNAPSHOT_TIMEOUT" }));
  expect(checks).toBe(before);
  stepMs = 0;
  time.begin();
  expect(new HistoryQueries(deps).at(1).delegates.all()).toHaveLength(DELEGATES);
});
