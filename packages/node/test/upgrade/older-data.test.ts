/** Data of an earlier version that was not started since: commands name the next step, and change nothing. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runUniknode } from "../../test-support/process/uniknode.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-older-"));
const data = join(folder, "data");
const path = join(data, "node.sqlite");
const FACT = `${path} was written by an earlier version of the program`;

beforeAll(() => {
  execFileSync("tar", ["-xzf", join(import.meta.dirname, "folders/0.1.0.tar.gz"), "-C", folder]);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("older data", () => {
  test.each([
    ["export", ["export", join(folder, "blocks"), "--data", data, "--dev-chain", data]],
    ["snapshot create", ["snapshot", "create", "--data", data, "--output", join(folder, "snapshot")]],
  ])("is refused by %s", async (_name, args) => {
    const before = readFileSync(path);
    const { code, stdout, stderr } = await runUniknode(args);
    expect([code, stdout, stderr]).toEqual([
      2,
      "",
      `uniknode: ${FACT}: start this version on it once, which converts it\n`,
    ]);
    expect(readFileSync(path).equals(before)).toBe(true);
    expect([existsSync(join(folder, "blocks")), existsSync(join(folder, "snapshot"))]).toEqual([
      false,
      false,
    ]);
  });

  test("is not damage for doctor", async () => {
    const { code, stdout } = await runUniknode(["doctor", "--data", data, "--http-port", "0"]);
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(
      `warn data folder ${FACT} start this version on it once, which converts it`,
    );
    expect(stdout).not.toContain("move the folder away");
    expect(code).toBe(0);
  });

  test("has accounts and missed slots", async () => {
    for (const args of [["accounts"], ["forger", "why"]]) {
      const { code, stderr } = await runUniknode([...args, "--data", data]);
      expect([code, stderr], args.join(" ")).toEqual([0, ""]);
    }
  });
});
