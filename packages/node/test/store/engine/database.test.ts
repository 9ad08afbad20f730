import { chmodSync, globSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Durability, openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import { temporaryFolder } from "../../../test-support/chain/fixtures.ts";
import { laterMigrations } from "../../../test-support/store/later-migrations.ts";

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const open = () => openDatabase(`${folder.path}/database.sqlite`);

describe("the files", () => {
  const modes = () =>
    readdirSync(folder.path).map((name) => [name, statSync(`${folder.path}/${name}`).mode & 0o777]);

  test("The files are accessible to the owner only, because they contain secrets.", () => {
    const database = open();
    database.execute("CREATE TABLE numbers (number INTEGER) STRICT");
    expect(modes().sort()).toEqual([
      ["database.sqlite", 0o600],
      ["database.sqlite-shm", 0o600],
      ["database.sqlite-wal", 0o600],
    ]);
    database.close();
  });

  test("The files become accessible to the owner only if another program created them.", () => {
    writeFileSync(`${folder.path}/database.sqlite`, "");
    chmodSync(`${folder.path}/database.sqlite`, 0o644);
    open().close();
    expect(modes()).toEqual([["database.sqlite", 0o600]]);
  });
});

describe("a transaction", () => {
  test("A transaction is rolled back by an error of its work, nested ones included.", () => {
    const database = open();
    database.execute("CREATE TABLE numbers (number INTEGER) STRICT");
    const insert = database.prepare("INSERT INTO numbers VALUES (?)");
    expect(() =>
      database.transaction(() => {
        database.transaction(() => insert.run(1));
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(database.prepare("SELECT * FROM numbers").all()).toEqual([]);
    expect(database.transaction(() => insert.run(2).changes)).toBe(1);
    database.close();
  });

  test("A transaction is visible to other connections as a whole.", () => {
    const writer = open();
    writer.execute("CREATE TABLE numbers (number INTEGER) STRICT");
    const reader = openDatabase(`${folder.path}/database.sqlite`, { readonly: true });
    const count = reader.prepare<{ rows: number }>("SELECT count(*) AS rows FROM numbers");
    writer.transaction(() => {
      writer.execute("INSERT INTO numbers VALUES (1)");
      expect(count.get()).toEqual({ rows: 0 });
      writer.execute("INSERT INTO numbers VALUES (2)");
    });
    expect(count.get()).toEqual({ rows: 2 });
    expect(() => reader.execute("INSERT INTO numbers VALUES (3)")).toThrow();
    reader.close();
    writer.close();
  });
});

test("Each commit has its own durability, regardless of earlier commits.", () => {
  const database = open();
  database.execute("CREATE TABLE numbers (number INTEGER) STRICT");
  const insert = database.prepare("INSERT INTO numbers VALUES (1)");
  // Its result is that of the time when it is prepared.
  const synchronous = () => database.prepare<{ synchronous: number }>("PRAGMA synchronous").get();
  const [normal, full] = [{ synchronous: 1 }, { synchronous: 2 }];
  const during = (survives?: Durability) => database.transaction(synchronous, survives);
  expect(during("process death")).toEqual(normal);
  expect(during("process death")).toEqual(normal);
  expect(during("power loss")).toEqual(full);
  during("process death");
  expect(during()).toEqual(full);
  during("process death");
  insert.run();
  expect(synchronous()).toEqual(full);
  during("process death");
  database.execute("INSERT INTO numbers VALUES (2)");
  expect(synchronous()).toEqual(full);
  database.close();
});

test("Integers are returned as numbers, or as bigint on request.", () => {
  const database = open();
  const sql = "SELECT 9007199254740993 AS amount, 5 AS small";
  expect(database.prepare(sql, { bigints: true }).get()).toEqual({ amount: 9007199254740993n, small: 5n });
  expect(database.prepare("SELECT 5 AS small").get()).toEqual({ small: 5 });
  database.close();
});

test("SQLite plans by the value of a plain parameter, and not by one with a sign", () => {
  const database = open();
  database.execute("CREATE TABLE t (state TEXT); CREATE INDEX waiting ON t (state) WHERE state = 'waiting'");
  const plan = (condition: string, ...values: string[]) =>
    database
      .prepare<{ detail: string }>(`EXPLAIN QUERY PLAN SELECT * FROM t WHERE ${condition}`)
      .get(...values)?.detail;
  expect(plan("state = ?", "waiting")).toContain("INDEX waiting");
  expect(plan("state = +?", "waiting")).toBe("SCAN t");
  database.close();
});

test("No statement of the node is planned by the value of its LIMIT.", () => {
  const sources = fileURLToPath(new URL("../../../src", import.meta.url));
  const planned = globSync("**/*.ts", { cwd: sources })
    .filter((path) => !path.startsWith("read/postgres/"))
    .filter((path) => /(LIMIT|OFFSET) \?/.test(readFileSync(join(sources, path), "utf8")));
  expect(planned).toEqual([]);
});

test("A question mark in a text is not a parameter, and values keep their types.", () => {
  const database = open();
  const row = database
    .prepare("SELECT 'why?' AS text, typeof(?) AS number, typeof(?) AS bytes, typeof(?) AS missing")
    .get(5n, new Uint8Array(1), null);
  expect(row).toEqual({ text: "why?", number: "integer", bytes: "blob", missing: "null" });
  database.close();
});

describe("migrations", () => {
  test("Migrations are applied once.", () => {
    const database = open();
    migrate(database);
    const applied = () => database.prepare("SELECT * FROM migrations").all();
    const first = applied();
    migrate(database);
    expect(applied()).toEqual(first);
    expect(first.length).toBeGreaterThan(0);
    database.close();
  });

  test("Migrations refuse a file that was changed after it had been applied.", () => {
    const database = open();
    migrate(database);
    database.execute("UPDATE migrations SET checksum = '0' WHERE name = '035-schema.sql'");
    expect(() => migrate(database)).toThrow(expect.objectContaining({ code: "MIGRATION_CHANGED" }));
    database.close();
  });

  test("Migrations refuse the data of a newer program.", () => {
    const database = open();
    migrate(database);
    database.execute("INSERT INTO migrations VALUES ('999-future.sql', '0')");
    expect(() => migrate(database)).toThrow(expect.objectContaining({ code: "MIGRATION_UNKNOWN" }));
    database.close();
  });

  test("Migrations apply a later file to the rows that are there, and nothing of one that fails.", () => {
    const folder = laterMigrations();
    const database = open();
    migrate(database);
    database.execute("INSERT INTO tokens VALUES ('a', 'owner', 't', 't')");
    migrate(database, undefined, folder);
    const row = { id: "a", owner: "owner", first_transaction: "t", last_transaction: "t", number: 7 };
    expect(database.prepare("SELECT * FROM tokens").all()).toEqual([row]);
    writeFileSync(join(folder, "901-wrong.sql"), "UPDATE tokens SET number = 8; SELECT * FROM missing;");
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(() => migrate(database, undefined, folder)).toThrow("no such table");
      expect(database.prepare("SELECT * FROM tokens").all()).toEqual([row]);
    }
    expect(database.prepare("SELECT name FROM migrations ORDER BY name").all()).toEqual([
      { name: "035-schema.sql" },
      { name: "036-response-headers.sql" },
      { name: "037-retractions.sql" },
      { name: "038-event-bytes.sql" },
      { name: "900-later.sql" },
    ]);
    database.close();
  });

  test("Migrations take the tables that the last development version created in steps as those of the first file.", () => {
    const database = open();
    migrate(database);
    const recorded = () => database.prepare("SELECT * FROM migrations").all();
    const before = recorded();
    database.execute("INSERT INTO tokens VALUES ('a', 'owner', 't', 't')");
    database.execute(
      `ALTER TABLE attempts DROP COLUMN response_headers;
       ALTER TABLE events DROP COLUMN total_bytes;
       DROP INDEX deliveries_first_retractions;
       DELETE FROM migrations;
       INSERT INTO migrations VALUES ('020-baseline.sql', '1'), ('034-fill-parts-of-properties.sql', '2')`,
    );
    migrate(database);
    expect(recorded()).toEqual(before);
    expect(database.prepare("SELECT id FROM tokens").all()).toEqual([{ id: "a" }]);
    database.close();
  });

  test.each(["001-baseline.sql", "019-names.sql", "033-parts-of-properties.sql"])(
    "Migrations refuse a database of which %s is the last step.",
    (name) => {
      const database = open();
      database.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY, checksum TEXT NOT NULL) STRICT");
      database.prepare("INSERT INTO migrations VALUES (?, '0')").run(name);
      expect(() => migrate(database)).toThrow(expect.objectContaining({ code: "MIGRATION_UNSUPPORTED" }));
      expect(database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()).toEqual([
        { name: "migrations" },
      ]);
      database.close();
    },
  );
});
