import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeFolder } from "../../../src/platform/files/folder.ts";
import { missingLinux, skips } from "../../../test-support/process/available.ts";

const PURPOSE = { what: "the data folder", flag: "--data", mode: 0o700 };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "uniknode-make-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("Missing folders are created, each with the mode; existing ones are unchanged.", () => {
  const path = join(folder, "a", "b");
  makeFolder(path, PURPOSE);
  expect([folder, join(folder, "a"), path].map((one) => statSync(one).mode & 0o777)).toEqual([
    0o700, 0o700, 0o700,
  ]);
  makeFolder(path, PURPOSE);
});

describe.skipIf(skips(missingLinux()))("An error of creation names the reason and the next step", () => {
  test.each<[path: string, reason: string]>([
    ["/proc/x", "the file system does not support folders"],
    ["/proc/x/y/z", "the file system does not support folders"],
    ["/dev/null", "/dev/null is not a folder"],
    ["/dev/null/below", "/dev/null is not a folder"],
    [`/tmp/${"x".repeat(300)}`, "the name is too long"],
  ])("%s", (path, reason) => {
    expect(() => makeFolder(path, PURPOSE)).toThrow(
      expect.objectContaining({
        code: "CONFIG",
        message: `the data folder ${path} cannot be used: ${reason}; choose another with --data`,
      }),
    );
  });

  test("A file at the path is named.", () => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    expect(() => makeFolder(join(file, "x"), PURPOSE)).toThrow(`${file} is not a folder`);
  });
});
