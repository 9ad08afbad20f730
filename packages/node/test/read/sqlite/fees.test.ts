import { expect, test } from "vitest";
import { createFeeQueries } from "../../../src/read/sqlite/tables/chain.ts";
import { openDatabase } from "../../../src/store/engine/database.ts";

test.each([
  [[1, 2], "2"],
  [[1, 1, 2], "1"],
  [[1, 2, 2], "2"],
  [[1_333_333_333_333_333, 1], "666666666666667"],
])("the average of the fees %j is rounded half up, as by the old node", (fees, average) => {
  const database = openDatabase(":memory:");
  database.execute(
    "CREATE TABLE transactions (type_group INTEGER, type INTEGER, fee INTEGER, height INTEGER, sequence INTEGER) STRICT",
  );
  const insert = database.prepare("INSERT INTO transactions VALUES (1, 0, ?, 1, 0)");
  for (const fee of fees) insert.run(fee);
  const queries = createFeeQueries(database);
  expect(queries.ofLast(9, 1, 0)?.avg).toBe(average);
  expect(queries.since(1, 0)[0]?.avg).toBe(average);
  database.close();
});
