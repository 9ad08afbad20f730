/** Pages of the present properties of a unik, and the parts by which they are found. */
import { expect, onTestFinished, test } from "vitest";
import { PresentProperties } from "../../../src/read/sqlite/tables/tokens.ts";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import { Records } from "../../../src/store/state/records.ts";
import { createDraws } from "../../../test-support/random.ts";

const [TOKEN, OTHER] = ["aa".repeat(32), "ab".repeat(32)];

test("Pages of thousands of properties are the same after random changes as of all rows, and no part is too large.", () => {
  const database = openDatabase(":memory:");
  onTestFinished(() => database.close());
  migrate(database);
  const properties = new PresentProperties(database);
  const records = new Records(database);
  const random = createDraws(5);
  const expected = new Map<string, string>();
  const change = (count: number, share: number) =>
    database.transaction(() => {
      for (let number = 0; number < count; number++) {
        const key = ["", "\0", "\u{10000}", "\uffff"][number] ?? `usr/${random.integer(0, 100_000)}`;
        const value = random.chance(share) ? `${number}` : undefined;
        records.write("properties", `${TOKEN}/${key}`, value, () => undefined);
        if (number < 100) records.write("properties", `${OTHER}/${key}`, value, () => undefined);
        if (value === undefined) expected.delete(key);
        else expected.set(key, value);
      }
    });
  const check = () => {
    const rows = [...expected]
      .map(([key, value]) => ({ key, value }))
      .sort((one, other) => Buffer.compare(Buffer.from(one.key), Buffer.from(other.key)));
    const totalCount = rows.length;
    for (let offset = 0; offset < totalCount + 1_000; offset += 7_777) {
      const page = { rows: rows.slice(offset, offset + 100), totalCount };
      expect(properties.page(TOKEN, { offset, limit: 100 })).toEqual(page);
      const afterKey = rows[offset - 1]?.key;
      if (afterKey !== undefined)
        expect(properties.page(TOKEN, { offset: 0, limit: 100, afterKey })).toEqual(page);
    }
    expect(properties.page(TOKEN, { offset: 0, limit: 0 })).toEqual({ rows: [], totalCount });
    const largest = database.prepare(
      "SELECT max(number) <= 512 * (1 + 63 * (level - 1)) AS isSmall FROM property_parts GROUP BY level",
    );
    expect(largest.all()).toEqual([{ isSmall: 1 }, { isSmall: 1 }]);
  };
  change(45_000, 1);
  check();
  for (const share of [0.5, 0, 0.9]) {
    change(10_000, share);
    check();
  }
});
