/** Data of a newer version: every command that opens it reports it in one sentence, and changes nothing. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDatabase } from "../../src/store/engine/database.ts";
import { runUniknode } from "../../test-support/process/uniknode.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-newer-"));
const data = join(folder, "data");
const path = join(data, "node.sqlite");
const NEWER = "9999_something.sql";

beforeAll(() => {
  execFileSync("tar", ["-xzf", join(import.meta.dirname, "folders/development.tar.gz"), "-C", folder]);
  const database = openDatabase(path);
  database.prepare("INSERT INTO migrations VALUES (?, 'checksum')").run(NEWER);
  database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  writeFileSync(join(folder, "webhooks.json"), "[]");
});
afterAll(() => rmSync(folder, { recursive: true }));

const dev = ["--data", data, "--dev-chain", data];
const COMMANDS: readonly (readonly string[])[] = [
  ["dev", "--data", data, "--http-port", "0", "--block-time", "1"],
  ["token", "--data", data],
  ["accounts", "--data", data],
  ["webhooks", "import", join(folder, "webhooks.json"), "--data", data],
  ["forger", "why", "--data", data],
  ["export", join(folder, "blocks"), ...dev],
  ["snapshot", "create", "--data", data, "--output", join(folder, "snapshot")],
];

describe("newer data is refused", () => {
  test.each(
    COMMANDS.map(
      (args) =>
        [
          args
            .slice(0, 2)
            .join(" ")
            .replace(/ (--data|\/.*)$/, ""),
          args,
        ] as const,
    ),
  )("Newer data is refused by %s.", async (_name, args) => {
    const before = readFileSync(path);
    const { code, stdout, stderr } = await runUniknode([...args]);
    expect([code, stdout], stderr).toEqual([2, ""]);
    expect(stderr).toBe(
      `uniknode: ${path} was written by a newer version of the program (migration ${NEWER}): ` +
        "start that version, or choose another data folder with --data\n",
    );
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(existsSync(join(folder, "blocks"))).toBe(false);
  });

  test("Newer data is refused by doctor, as one of its findings.", async () => {
    const { code, stdout } = await runUniknode(["doctor", ...dev.slice(0, 2), "--http-port", "0"]);
    expect([code, stdout]).toEqual([1, expect.stringContaining("was written by a newer version")]);
  });
});
