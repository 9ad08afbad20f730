import { propertyKey } from "@uniknode/ledger";
import { expect, onTestFinished, test } from "vitest";
import type { PropertyRange } from "../../../src/read/page.ts";
import { TimeBox } from "../../../src/read/sqlite/lists/time-box.ts";
import { PastProperties } from "../../../src/read/sqlite/tables/tokens.ts";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import { HistoryReader } from "../../../src/store/history/reader.ts";
import { HISTORY_KINDS } from "../../../src/store/history/writer.ts";
import { createDraws } from "../../../test-support/random.ts";

const [TOKEN, OTHER] = ["aa".repeat(32), "ab".repeat(32)];
const HEAD = { id: "1", height: 100, timestamp: 0 };

test("Pages of thousands of properties at a height are those of the versions that were valid then.", () => {
  const database = openDatabase(":memory:");
  onTestFinished(() => database.close());
  migrate(database);
  const random = createDraws(3);
  const insert = database.prepare("INSERT INTO properties VALUES (?, ?, ?)");
  const record = database.prepare("INSERT INTO history_records VALUES (?, ?, ?, 0, 0, 0, ?)");
  const expected = new Map<string, string>();
  database.transaction(() => {
    for (let number = 0; number < 3_000; number++) {
      // Keys that JavaScript and SQLite order differently, the empty one, and one with U+0000.
      const key = ["", "\0", "\u{10000}", "\uffff"][number] ?? `usr/${random.integer(0, 1e9)}/${number}`;
      const versions = random.integer(0, 3);
      if (random.chance(0.7)) {
        insert.run(TOKEN, key, "now");
        if (versions === 0) expected.set(key, "now");
      }
      for (let version = 0; version < versions; version++) {
        const value = random.chance(0.6) ? `before ${version}` : null;
        record.run(HISTORY_KINDS.properties, propertyKey(TOKEN, key), 50 + 2 * version, value);
        if (version === 0 && value !== null) expected.set(key, value);
      }
      record.run(HISTORY_KINDS.properties, propertyKey(TOKEN, key), 40, "too early");
      record.run(HISTORY_KINDS.properties, propertyKey(OTHER, key), 60, "another");
    }
  });
  const time = new TimeBox(600_000);
  time.begin();
  const properties = new PastProperties(database, time, new HistoryReader(database));
  const list = (range: PropertyRange) => properties.page(HEAD, 45, TOKEN, range);
  const rows = [...expected]
    .map(([key, value]) => ({ key, value }))
    .sort((one, other) => Buffer.compare(Buffer.from(one.key), Buffer.from(other.key)));
  const totalCount = rows.length;
  expect(totalCount).toBeGreaterThan(1_500);
  for (let offset = 0; offset < totalCount + 200; offset += 97) {
    const page = { rows: rows.slice(offset, offset + 100), totalCount };
    expect(list({ offset, limit: 100 })).toEqual(page);
    const afterKey = rows[offset - 1]?.key;
    if (afterKey !== undefined) expect(list({ offset: 0, limit: 100, afterKey })).toEqual(page);
  }
  expect(list({ offset: 0, limit: 5_000 })).toEqual({ rows, totalCount });
  expect(list({ offset: 0, limit: 0 })).toEqual({ rows: [], totalCount });
  for (const { key, value } of rows.slice(0, 50)) expect(properties.value(45, TOKEN, key)).toBe(value);
});

test("A page of properties at a height visits each recorded key once, whenever the key was changed, and can end there.", () => {
  const database = openDatabase(":memory:");
  onTestFinished(() => database.close());
  migrate(database);
  const insert = database.prepare("INSERT INTO properties VALUES (?, ?, ?)");
  const record = database.prepare("INSERT INTO history_records VALUES (?, ?, ?, 0, 0, 0, ?)");
  database.transaction(() => {
    for (let number = 0; number < 1_000; number++) {
      const key = `usr/${number}`;
      insert.run(TOKEN, key, "now");
      for (const height of [10, 20, 30, 40]) {
        const version = number < 500 ? height : height + 50;
        record.run(HISTORY_KINDS.properties, propertyKey(TOKEN, key), version, `before ${version}`);
      }
    }
  });
  let visited = 0;
  const time = new TimeBox(600_000);
  time.begin();
  const visit = () => {
    if (++visited > 1_200) throw new Error("too many keys");
  };
  const properties = new PastProperties(database, time, new HistoryReader(database, visit));
  expect(properties.page(HEAD, 45, TOKEN, { offset: 999, limit: 1 })).toEqual({
    rows: [{ key: "usr/999", value: "before 60" }],
    totalCount: 1_000,
  });
  expect(visited).toBe(1_200);
  expect(() => properties.page(HEAD, 45, TOKEN, { offset: 0, limit: 1 })).toThrow("too many keys");
});
