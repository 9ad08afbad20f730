import { expect, test } from "vitest";
import { Chunks, TimeBox } from "../../../src/read/sqlite/lists/time-box.ts";
import { FeeQueries } from "../../../src/read/sqlite/tables/chain.ts";
import { openDatabase } from "../../../src/store/engine/database.ts";

test.each([
  [[1, 2], "2"],
  [[1, 1, 2], "1"],
  [[1, 2, 2], "2"],
  [[1_333_333_333_333_333, 1], "666666666666667"],
])("The average of the fees %j is rounded half up, as by the old node.", (fees, average) => {
  const database = openDatabase(":memory:");
  database.execute(
    `CREATE TABLE transactions (height INTEGER, sequence INTEGER, type_group INTEGER, type INTEGER, fee INTEGER,
       PRIMARY KEY (height, sequence)) STRICT, WITHOUT ROWID`,
  );
  const insert = database.prepare("INSERT INTO transactions VALUES (?, 0, 1, 0, ?)");
  for (const [index, fee] of fees.entries()) insert.run(index + 1, fee);
  const time = new TimeBox(60_000);
  time.begin();
  const queries = new FeeQueries({ database, chunks: new Chunks(database, time) });
  expect(queries.ofLast(9, 1, 0)?.avg).toBe(average);
  expect(queries.since(1, 0)[0]?.avg).toBe(average);
  database.close();
});
