/** Location of the compile cache. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runUniknode } from "../../test-support/process/uniknode.ts";

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-cache-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

const UNSET = { HOME: undefined, XDG_CACHE_HOME: undefined, NODE_COMPILE_CACHE: undefined };
const version = (environment: NodeJS.ProcessEnv) =>
  runUniknode(["version"], { environment: { ...UNSET, ...environment } });

test("Compiled code is stored in the cache folder of the user.", async () => {
  const HOME = temporaryFolder();
  expect((await version({ HOME })).code).toBe(0);
  expect(existsSync(join(HOME, ".cache/uniknode"))).toBe(true);
});

test("The environment names another folder.", async () => {
  const [HOME, other, own] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
  await version({ HOME, XDG_CACHE_HOME: other });
  expect(existsSync(join(other, "uniknode"))).toBe(true);
  await version({ HOME, XDG_CACHE_HOME: other, NODE_COMPILE_CACHE: join(own, "compiled") });
  expect(existsSync(join(own, "compiled"))).toBe(true);
  expect(existsSync(join(HOME, ".cache"))).toBe(false);
});

test("Without such a folder the program still runs.", async () => {
  const file = join(temporaryFolder(), "file");
  writeFileSync(file, "");
  for (const environment of [{}, { HOME: file }]) {
    expect(await version(environment)).toMatchObject({ code: 0, stderr: "" });
  }
});
