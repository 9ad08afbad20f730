/** Copies of a chain: which schemas are known, and what happens to their rows. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { copyChain, stateDigest } from "../../src/archive/copy.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { type Archived, alter, archiveFixture } from "../../test-support/archive/fixture.ts";
import { laterMigrations } from "../../test-support/store/later-migrations.ts";

let archived: Archived;
let copies = 0;
const newPath = () => join(archived.folder, `copy-${copies++}.sqlite`);

beforeAll(async () => {
  archived = await archiveFixture("chain-1");
});
afterAll(() => archived.remove());

test("The chain of a database that lacks a migration is copied, and then migrated.", () => {
  const folder = laterMigrations();
  const [from, to] = [join(archived.data, "node.sqlite"), newPath()];
  copyChain(from, to, folder);
  const [source, copy] = [from, to].map((path) => openDatabase(path, { readonly: true }));
  const tokens = source?.prepare<{ count: number }>("SELECT count(*) AS count FROM tokens").get();
  expect(tokens?.count).toBeGreaterThan(0);
  expect(copy?.prepare("SELECT number, count(*) AS count FROM tokens GROUP BY number").all()).toEqual([
    { number: 7, ...tokens },
  ]);
  expect(copy && stateDigest(copy)).toBe(source && stateDigest(source));
  for (const database of [source, copy]) database?.close();

  // A copy of what has the migration keeps its values.
  const [migrated, again] = [openDatabase(to), newPath()];
  migrate(migrated, to, folder);
  migrated.execute("UPDATE tokens SET number = 8");
  migrated.close();
  copyChain(to, again, folder);
  const last = openDatabase(again, { readonly: true });
  expect(last.prepare("SELECT DISTINCT number FROM tokens").all()).toEqual([{ number: 8 }]);
  last.close();
  expect(() => copyChain(to, newPath())).toThrow(expect.objectContaining({ code: "ARCHIVE_FOREIGN" }));
});

test("The tables of the last development version are known, whose comments differ.", () => {
  const archive = join(import.meta.dirname, "../upgrade/folders/development.tar.gz");
  execFileSync("tar", ["-xzf", archive, "-C", archived.folder, "--transform", "s/^data/development/"]);
  const [from, to] = [join(archived.folder, "development/node.sqlite"), newPath()];
  copyChain(from, to);
  const [before, after] = [from, to].map((path) => {
    const database = openDatabase(path);
    const digest = stateDigest(database);
    database.close();
    return digest;
  });
  expect(after).toBe(before);
});

test.each([
  ["without migrations", "DROP TABLE migrations"],
  ["with a trigger", "CREATE TRIGGER mine AFTER INSERT ON blocks BEGIN DELETE FROM wallets; END"],
  ["with a view in place of its migrations", "DROP TABLE migrations; CREATE VIEW migrations AS SELECT 1"],
  ["that lacks a table", "DROP TABLE holdings"],
])("A database %s is refused.", async (_what, sql) => {
  const other = await archiveFixture("chain-1");
  alter(other.data, sql);
  expect(() => copyChain(join(other.data, "node.sqlite"), newPath())).toThrow(
    expect.objectContaining({ code: "ARCHIVE_FOREIGN" }),
  );
  other.remove();
});
