/** Commands that write files are killed at a step on the file system, with the real program, and repeated. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createNetwork, genesisBlockFromJson } from "@uniknode/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Archived, archiveFixture } from "../../test-support/archive/fixture.ts";
import { writeNetwork } from "../../test-support/process/network.ts";
import { runUniknode } from "../../test-support/process/uniknode.ts";

const KILLER = pathToFileURL(join(import.meta.dirname, "../../test-support/process/file-steps.ts")).href;
const folder = mkdtempSync(join(tmpdir(), "uniknode-killed-"));
const at = (name: string) => join(folder, name);
const network = ["--network-dir", at("network")];
let names = 0;
let archived: Archived;

beforeAll(async () => {
  archived = await archiveFixture("chain-1");
  const { content } = archived;
  const block = genesisBlockFromJson(content.genesis, createNetwork(content.network));
  writeNetwork(at("network"), { block, files: content.network });
  await runUniknode(["export", at("blocks"), "--data", archived.data, "--to", "9", ...network]);
  await runUniknode(["import", at("blocks"), "--data", at("data"), ...network]);
  await runUniknode(["snapshot", "create", "--data", at("data"), "--output", at("snapshot")]);
});
afterAll(() => {
  archived.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a command that is killed at a step on paths that begin with the path. */
const runToStep = (step: number, path: string, command: readonly string[]) =>
  runUniknode(command, {
    nodeArguments: ["--import", KILLER],
    environment: { UNIKNODE_TEST_KILL_AT: String(step), UNIKNODE_TEST_KILL_IN: path },
  });

/** Step before which no command of `COMMANDS` is complete; killed-commands.test.ts stops them before each one. */
const STEP = 4;
const COMMANDS: readonly (readonly [name: string, toCommand: (path: string) => string[]])[] = [
  ["network init", (path) => ["network", "init", path, "--accounts", "1"]],
  ["init", (path) => ["init", path]],
  ["snapshot create", (path) => ["snapshot", "create", "--data", at("data"), "--output", path]],
  ["snapshot restore", (path) => ["snapshot", "restore", at("snapshot"), "--data", path, ...network]],
  ["import", (path) => ["import", at("blocks"), "--data", path, ...network]],
];

test.each(COMMANDS)("A killed %s is repeated.", async (_name, toCommand) => {
  const path = at(String(names++));
  const command = toCommand(path);
  expect(await runToStep(STEP, path, command)).toMatchObject({ code: null });
  expect(await runUniknode(command)).toMatchObject({ code: 0 });
});

test("A killed export is repeated, and its file is never a part of the blocks.", async () => {
  let kills = 0;
  for (let isKilled = true; isKilled; ) {
    const path = at(String(names++));
    const command = ["export", path, "--data", at("data"), ...network];
    const { code } = await runToStep(kills + 1, path, command);
    isKilled = code === null;
    if (isKilled) kills++;
    else expect(code).toBe(0);
    if (!existsSync(path))
      expect(await runUniknode(command), `after ${kills} steps`).toMatchObject({ code: 0 });
  }
  expect(kills).toBeGreaterThan(0);
  expect(readdirSync(folder).filter((name) => name.endsWith(".part"))).toEqual([]);
});

test("A killed snapshot create leaves a folder whose verification names the next step.", async () => {
  const path = at("unfinished");
  await runToStep(6, path, ["snapshot", "create", "--data", at("data"), "--output", path]);
  expect(await runUniknode(["snapshot", "verify", path, ...network])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/is unfinished: .*if it was interrupted, repeat it with --output /),
  });
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
])("A verification that %s stops removes its copy of the chain.", async (signal, code) => {
  const path = at("temporary");
  mkdirSync(path, { recursive: true });
  const { code: seen } = await runUniknode(["snapshot", "verify", "--execute", at("snapshot"), ...network], {
    nodeArguments: ["--import", KILLER],
    environment: {
      TMPDIR: path,
      UNIKNODE_TEST_KILL_AT: "1",
      UNIKNODE_TEST_KILL_IN: join(path, "uniknode-verify-"),
      UNIKNODE_TEST_SIGNAL: signal,
    },
  });
  expect(seen).toBe(code);
  expect(readdirSync(path)).toEqual([]);
});

/** Module that sends a signal to its process before a statement of SQLite, during which no handler of the signal can run. */
const signalBefore = (method: string, sql: string) => `import { createRequire } from "node:module";
const { prototype } = createRequire(${JSON.stringify(import.meta.filename)})("better-sqlite3");
const original = prototype.${method};
prototype.${method} = function (sql) {
  if (sql.startsWith("${sql}")) process.kill(process.pid, "SIGINT");
  return original.call(this, sql);
};`;

test.each([
  ["exec", "INSERT INTO main.blocks "],
  ["prepare", "SELECT 1 FROM (SELECT"],
])(
  "A signal during a long statement (%s of %s) ends a verification at once, and the next one removes its copy.",
  async (...statement) => {
    const path = at("statement");
    mkdirSync(path, { recursive: true });
    writeFileSync(at("signal.mjs"), signalBefore(...statement));
    const verify = (...nodeArguments: string[]) =>
      runUniknode(["snapshot", "verify", "--execute", at("snapshot"), ...network], {
        nodeArguments,
        environment: { TMPDIR: path },
      });
    // A process that a signal has ended has no exit code.
    expect(await verify("--import", pathToFileURL(at("signal.mjs")).href)).toMatchObject({ code: null });
    expect(readdirSync(path)).toEqual([expect.stringMatching(/^uniknode-verify-/)]);
    expect(await verify()).toMatchObject({ code: 0 });
    expect(readdirSync(path)).toEqual([]);
  },
);
