import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Database, openDatabase } from "../../../src/store/engine/database.ts";
import { GroupCommit } from "../../../src/webhooks/sqlite/storage.ts";
import { temporaryFolder } from "../../../test-support/chain/fixtures.ts";

let folder: ReturnType<typeof temporaryFolder>;
let database: Database;
let reader: Database;

beforeEach(() => {
  folder = temporaryFolder();
  const path = `${folder.path}/database.sqlite`;
  database = openDatabase(path);
  database.execute("CREATE TABLE numbers (number INTEGER UNIQUE) STRICT");
  reader = openDatabase(path, { readonly: true });
});
afterEach(() => {
  reader.close();
  database.close();
  folder.remove();
});

const numbers = () =>
  reader
    .prepare<{ number: number }>("SELECT number FROM numbers ORDER BY rowid")
    .all()
    .map(({ number }) => number);

/** Counts the transactions of groups. */
function createCounted() {
  const sizes: number[] = [];
  const groupCommit = new GroupCommit({
    group: (changes) => {
      sizes.push(changes.length);
      return database.group(changes);
    },
  });
  const commit = <T>(change: () => T) => groupCommit.run(change);
  const insert = (number: number) =>
    commit(() => {
      database.prepare("INSERT INTO numbers VALUES (?)").run(number);
      return number;
    });
  return { sizes, commit, insert };
}

describe("a group of changes", () => {
  test("A group of changes is one transaction in the order of the calls, and returns each result when all are on disk.", async () => {
    const { sizes, insert } = createCounted();
    const seen: number[][] = [];
    const results = await Promise.all(
      [3, 1, 2].map(async (number) => {
        const result = await insert(number);
        seen.push(numbers());
        return result;
      }),
    );
    expect(results).toEqual([3, 1, 2]);
    expect(sizes).toEqual([3]);
    expect(seen).toEqual([
      [3, 1, 2],
      [3, 1, 2],
      [3, 1, 2],
    ]);
  });

  test("A group of changes loses the writes of a change that fails, and of no other.", async () => {
    const { sizes, commit, insert } = createCounted();
    const failing = commit(() => {
      database.transaction(() => database.prepare("INSERT INTO numbers VALUES (?)").run(7));
      throw new Error("refused");
    });
    const results = await Promise.allSettled([insert(1), failing, insert(1), insert(2)]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
    expect(numbers()).toEqual([1, 2]);
    expect(sizes).toEqual([4]);
  });

  test("A group of changes fails as a whole when the transaction is lost.", async () => {
    const { commit, insert } = createCounted();
    const first = insert(1);
    // As SQLite itself does on a full disk.
    const full = commit(() => database.prepare("INSERT OR ROLLBACK INTO numbers VALUES (1)").run());
    const results = await Promise.allSettled([first, full, insert(2)]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    await expect(full).rejects.toThrow("UNIQUE");
    expect(numbers()).toEqual([]);
    expect(await insert(3)).toBe(3);
  });

  test("A group of changes is bounded: further changes follow in later groups, in order.", async () => {
    const { sizes, insert } = createCounted();
    const all = Array.from({ length: 70 }, (_, index) => index);
    await Promise.all(all.map(insert));
    expect(sizes).toEqual([32, 32, 6]);
    expect(numbers()).toEqual(all);
  });

  test("A group of changes preserves everything that it reported when the process is killed.", async () => {
    const child = spawn(
      process.execPath,
      [
        "--input-type=module",
        "--eval",
        `import { writeSync } from "node:fs";
        import { openDatabase } from ${JSON.stringify(new URL("../../../src/store/engine/database.ts", import.meta.url))};
        import { GroupCommit } from ${JSON.stringify(new URL("../../../src/webhooks/sqlite/storage.ts", import.meta.url))};
        const database = openDatabase(${JSON.stringify(`${folder.path}/database.sqlite`)});
        const insert = database.prepare("INSERT INTO numbers VALUES (?)");
        const groupCommit = new GroupCommit(database);
        for (let number = 0; ; number += 5) {
          await Promise.all([0, 1, 2, 3, 4].map(async (offset) => {
            await groupCommit.run(() => insert.run(number + offset));
            writeSync(1, number + offset + "\\n");
          }));
        }`,
      ],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    let reported = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      reported += text;
      if (reported.length > 500) child.kill("SIGKILL");
    });
    await once(child, "close");
    const complete = reported.split("\n").slice(0, -1).map(Number);
    expect(complete.length).toBeGreaterThan(50);
    expect(numbers()).toEqual(expect.arrayContaining(complete));
    // Groups are committed as a whole.
    expect(numbers().length % 5).toBe(0);
  });
});
