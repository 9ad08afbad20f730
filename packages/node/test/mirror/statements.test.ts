/** Few rows are inserted from arrays, many are copied: both arrive unchanged. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Columns, insertRows } from "../../src/mirror/statements.ts";
import type { Postgres } from "../../src/postgres/connection.ts";
import {
  connect,
  hasPostgres,
  type PostgresServer,
  startPostgres,
} from "../../test-support/postgres/server.ts";

const COLUMNS: Columns = [
  ["number", "bigint"],
  ["text", "text"],
  ["bytes", "bytea"],
];
const TEXTS = [
  "",
  "\\N",
  "\\.",
  "a\tb\nc\rd\\e",
  '{"a":"\\u0000\\n"}',
  "é \u{1f600} \u2028",
  "\b\f\v\u0001",
  null,
];

let server: PostgresServer;
let postgres: Postgres;
beforeAll(async () => {
  if (!hasPostgres) return;
  server = await startPostgres();
  postgres = connect(await server.createDatabase("statements"));
});
afterAll(async () => {
  await postgres?.close();
  await server?.stop();
});

const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const text = TEXTS[index % TEXTS.length] ?? null;
    return [`${2n ** 62n + BigInt(index)}`, text, text === null ? null : Buffer.from(`${text}\0${index}`)];
  });

describe.skipIf(!hasPostgres)("rows", () => {
  test.each([1, 199, 200, 2_000, 2_001, 5_000])(
    "Rows in the number of %i arrive unchanged.",
    async (count) => {
      await postgres.query("CREATE TABLE written (number bigint, text text, bytes bytea)");
      const rows = rowsOf(count);
      await postgres.transaction("READ WRITE", (transaction) =>
        insertRows(transaction, "written", COLUMNS, rows),
      );
      const found = await postgres.query<Record<string, unknown>>("SELECT * FROM written ORDER BY number");
      expect(found.map(({ number, text, bytes }) => [number, text, bytes])).toEqual(rows);
      await postgres.query("DROP TABLE written");
    },
  );

  test("Rows that the server refuses leave the connection usable, and nothing is written.", async () => {
    await postgres.query("CREATE TABLE refused (number bigint CHECK (number < 0), text text, bytes bytea)");
    for (const sql of ["refused", "missing"]) {
      await expect(
        postgres.transaction("READ WRITE", (transaction) =>
          insertRows(transaction, sql, COLUMNS, rowsOf(300)),
        ),
      ).rejects.toThrow(sql);
    }
    expect(await postgres.query("SELECT * FROM refused")).toEqual([]);
  });
});
