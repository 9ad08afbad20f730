/** The SQL in use, from which the tables of docs/scale.md are generated. */
import { expect, test } from "vitest";
import { FEATURES, featuresOf, withFeature } from "../../tools/scale/statements/features.ts";
import { literalsIn } from "../../tools/scale/statements/literals.ts";
import { readStatements, statementsIn } from "../../tools/scale/statements/statements.ts";

test("Strings and templates are read, with those in expressions, and without comments.", () => {
  const source = [
    'const a = "one"; // "not this"',
    "/* `nor this` */ const b = `two #{c ? `three #{1}` : 'four'} five`;",
    'const d = { e: "six \\" seven" };',
  ]
    .join("\n")
    .replaceAll("#", "$");
  expect(literalsIn(source)).toEqual(["one", "three ...", "four", "two ... five", 'six \\" seven']);
});

test("Statements and parts of statements are recognised.", () => {
  const source =
    'query(`SELECT id\n  FROM #{table}`); const lock = "FOR UPDATE"; throw new Error("no rows from it");'.replace(
      "#",
      "$",
    );
  expect(statementsIn("a.ts", source)).toEqual([
    { file: "a.ts", sql: "SELECT id FROM ...", isWhole: true },
    { file: "a.ts", sql: "FOR UPDATE", isWhole: false },
  ]);
  const schema =
    "-- A table; with a comment.\nCREATE TABLE a (\n  id bigint PRIMARY KEY -- key\n);\nCREATE INDEX b ON a (id);\n";
  expect(statementsIn("a.sql", schema).map(({ sql }) => sql)).toEqual([
    "CREATE TABLE a ( id bigint PRIMARY KEY )",
    "CREATE INDEX b ON a (id)",
  ]);
});

test("The statements of all processes are found.", () => {
  const statements = readStatements();
  expect(statements.filter(({ isWhole }) => isWhole).length).toBeGreaterThan(250);
  const beginnings = statements.map(({ file, sql }) => `${file}: ${sql}`);
  for (const known of [
    "mirror/statements.ts: COPY ... (...) FROM STDIN",
    "mirror/head.ts: UPDATE head SET",
    "read/postgres/blocks.ts: SELECT height::float8 AS height FROM blocks WHERE id = $1",
    "webhooks/postgres/queue-changes.ts: SELECT 1 FROM queues WHERE webhook = $1 FOR UPDATE",
    "webhooks/postgres/sending/outcome-rows.ts: INSERT INTO attempts",
    "processes/deliver/new-events.ts: SELECT",
    "postgres/schema/004-webhooks.sql: CREATE SEQUENCE delivery_numbers",
    "event-log/postgres/history.ts: SELECT height FROM head WHERE phase = 'ready'",
  ])
    expect(
      beginnings.filter((beginning) => beginning.startsWith(known)),
      known,
    ).not.toEqual([]);
});

test("A statement has the properties that its text shows.", () => {
  const of = (sql: string) => featuresOf({ file: "a.ts", sql, isWhole: true });
  expect(of("SELECT 1 FROM queues WHERE webhook = $1 FOR UPDATE")).toEqual(["row lock"]);
  expect(of("UPDATE deliveries SET state = 'failed' WHERE number = ANY ($1)")).toEqual([
    "change of deliveries by number",
  ]);
  expect(of("UPDATE deliveries SET state = 'failed' WHERE webhook = $1")).toEqual([]);
  expect(of("SELECT id FROM webhooks WHERE id = $1")).toEqual([]);
});

test("Each property of the table in docs/scale.md has statements.", () => {
  const statements = readStatements();
  for (const feature of FEATURES) expect(withFeature(statements, feature), feature.name).not.toEqual([]);
});
