/** Data that was not migrated, or cannot be: commands name the next step, and change nothing. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDatabase } from "../../src/store/engine/database.ts";
import { runUniknode } from "../../test-support/process/uniknode.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-older-"));
const data = join(folder, "data");
const path = join(data, "node.sqlite");
const FACT = `${path} was written by an earlier version of the program`;
const NEXT_STEP = "start a node of this version on it once, which migrates it";

beforeAll(() => {
  execFileSync("tar", ["-xzf", join(import.meta.dirname, "folders/development.tar.gz"), "-C", folder]);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("older data", () => {
  test.each([
    ["export", ["export", join(folder, "blocks"), "--data", data, "--dev-chain", data]],
    ["snapshot create", ["snapshot", "create", "--data", data, "--output", join(folder, "snapshot")]],
  ])("Older data is refused by %s.", async (_name, args) => {
    const before = readFileSync(path);
    const { code, stdout, stderr } = await runUniknode(args);
    expect([code, stdout, stderr]).toEqual([2, "", `uniknode: ${FACT}: ${NEXT_STEP}\n`]);
    expect(readFileSync(path).equals(before)).toBe(true);
    expect([existsSync(join(folder, "blocks")), existsSync(join(folder, "snapshot"))]).toEqual([
      false,
      false,
    ]);
  });

  test("Older data is not damage for doctor.", async () => {
    const { code, stdout } = await runUniknode(["doctor", "--data", data, "--http-port", "0"]);
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(`warn data folder ${FACT} ${NEXT_STEP}`);
    expect(stdout).not.toContain("move the folder away");
    expect(code).toBe(0);
  });

  test("Older data has accounts and missed slots.", async () => {
    for (const args of [["accounts"], ["forger", "why"]]) {
      const { code, stderr } = await runUniknode([...args, "--data", data]);
      expect([code, stderr], args.join(" ")).toEqual([0, ""]);
    }
  });
});

describe("data of a development version whose tables are not those of the first migration", () => {
  beforeAll(() => {
    const database = openDatabase(path);
    database.execute("DELETE FROM migrations WHERE name LIKE '034-%'; PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
  });

  test.each([
    ["dev", ["dev", "--data", data, "--http-port", "0", "--block-time", "1"]],
    ["accounts", ["accounts", "--data", data]],
    ["export", ["export", join(folder, "blocks"), "--data", data, "--dev-chain", data]],
  ])(
    "Data of a development version whose tables are not those of the first migration is refused by %s.",
    async (_name, args) => {
      const before = readFileSync(path);
      const { code, stdout, stderr } = await runUniknode(args);
      expect([code, stdout], stderr).toEqual([2, ""]);
      expect(stderr).toBe(
        `uniknode: ${path} was written by a development version, whose tables this version does not read: move the data folder away ` +
          'and start again, which fetches the chain from peers; or write the blocks with "uniknode export" of that version, and read ' +
          'them with "uniknode import" of this one\n',
      );
      expect(readFileSync(path).equals(before)).toBe(true);
    },
  );

  test("Data of a development version with tables of another migration is one of the findings of doctor.", async () => {
    const { code, stdout } = await runUniknode(["doctor", "--data", data, "--http-port", "0"]);
    expect([code, stdout]).toEqual([1, expect.stringContaining("was written by a development version")]);
  });
});
