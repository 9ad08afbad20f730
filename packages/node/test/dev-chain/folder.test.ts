/** Data folder of a dev chain, which can be reset. */
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { claimFolder, resetFolder } from "../../src/dev-chain/folder.ts";
import { SessionFile, Sessions } from "../../src/http/console/sessions.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { MetaStore } from "../../src/store/node/meta.ts";

const SHAPE = { mnemonic: "test", accounts: 1, blockTime: 1 };

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-folder-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("A reset ends console sessions, and keeps files that are not of the chain.", () => {
  const folder = newFolder();
  claimFolder(folder, SHAPE, "dev");
  writeFileSync(join(folder, "notes.txt"), "mine");
  const start = () =>
    new Sessions({
      nowMs: Date.now,
      token: "token",
      storage: new SessionFile(folder, pino({ level: "silent" })),
    });
  const session = start().open();
  expect(start().endOf(session)).toBeDefined();
  resetFolder(folder);
  expect(existsSync(folder) && readdirSync(folder)).toEqual(["lock.sqlite", "notes.txt"]);
  expect(start().endOf(session)).toBeUndefined();
});

test.each([
  ["dev", true],
  ["other", false],
])("A reset of a folder that %s has stored a chain in deletes it: %s.", (nethash, isDeleted) => {
  const folder = newFolder();
  claimFolder(folder, SHAPE, "dev");
  const path = join(folder, "node.sqlite");
  const database = openDatabase(path);
  migrate(database, path);
  new MetaStore(database).write("nethash", nethash);
  database.close();
  if (isDeleted) resetFolder(folder);
  else expect(() => resetFolder(folder)).toThrow("contains the chain of another network and was not deleted");
  expect(existsSync(path)).toBe(!isDeleted);
});

test("A reset repairs a damaged lock, and deletes nothing if the lock cannot be opened: another user may hold it.", () => {
  const folder = newFolder();
  claimFolder(folder, SHAPE, "dev");
  const lock = join(folder, "lock.sqlite");
  symlinkSync("/nowhere/lock.sqlite", lock);
  expect(() => resetFolder(folder)).toThrow(expect.objectContaining({ code: "DATA_UNUSABLE" }));
  expect(readdirSync(folder)).toEqual(["dev-chain.json", "lock.sqlite"]);
  rmSync(lock);
  writeFileSync(lock, "no database ".repeat(1_000));
  resetFolder(folder);
  expect(readdirSync(folder)).toEqual([]);
});
