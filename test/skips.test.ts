/** Programs that tests need: one that exists but cannot run is missing as well. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { missingProgram, skips } from "../packages/node/test-support/process/available.ts";

function writeProgram(script: string, mode = 0o755): string {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-program-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "program");
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode });
  return path;
}

test("A program that runs is available.", () => {
  expect(missingProgram(writeProgram('[ "$1" = --version ]'))).toBe(undefined);
  expect(missingProgram(writeProgram('[ "$1" = -V ]'), ["-V"])).toBe(undefined);
});

test("A program that does not exist, that cannot be executed or that fails is missing, and the reason is one line.", () => {
  const [plain, silent, loud] = [
    writeProgram("", 0o644),
    writeProgram("exit 3"),
    writeProgram("echo a >&2; echo b >&2; exit 1"),
  ];
  expect(missingProgram("/nonexistent/program")).toBe("/nonexistent/program is missing");
  expect(missingProgram(plain)).toMatch(/^\S+ cannot run: .*EACCES$/);
  expect(missingProgram(silent)).toBe(`${silent} cannot run: it ended with 3`);
  expect(missingProgram(loud)).toBe(`${loud} cannot run: b`);
});

test("Tests are skipped only for a reason, which is printed once.", () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  onTestFinished(() => warn.mockRestore());
  expect(skips(undefined)).toBe(false);
  expect([skips("a reason of this test"), skips("a reason of this test")]).toEqual([true, true]);
  expect(warn.mock.calls).toEqual([["Tests are skipped: a reason of this test"]]);
});
