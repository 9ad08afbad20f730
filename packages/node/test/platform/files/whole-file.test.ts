/** Files that are complete at any moment. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeWholeFile } from "../../../src/platform/files/whole-file.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "uniknode-file-"));
  path = join(folder, "file");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Another process that writes a text of two megabytes. */
const WRITER = `
  import { writeWholeFile } from ${JSON.stringify(new URL("../../../src/platform/files/whole-file.ts", import.meta.url))};
  writeWholeFile(process.argv[1], "long".repeat(500_000));`;
const LIMIT_KILOBYTES = 1_000;

test("A process that ends during a write leaves the former text, and the next write works.", () => {
  writeWholeFile(path, "before");
  // The kernel lets it write no more than half of it.
  const limited = ["-c", `ulimit -f ${LIMIT_KILOBYTES} && exec "$@"`, "sh"];
  const writer = [process.execPath, "--input-type=module-typescript", "--eval", WRITER, path];
  const { status } = spawnSync("bash", [...limited, ...writer]);
  expect(status).not.toBe(0);
  expect(readFileSync(`${path}.part`).length).toBe(LIMIT_KILOBYTES * 1024);
  expect(readFileSync(path, "utf8")).toBe("before");
  writeWholeFile(path, "after");
  expect(readFileSync(path, "utf8")).toBe("after");
  expect(readdirSync(folder)).toEqual(["file"]);
});
