/** Commands that write files are killed at several steps on the file system, with the real program, and repeated. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createNetwork, genesisBlockFromJson } from "@uniknode/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readManifest } from "../../src/archive/manifest.ts";
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

/**
 * Kills a command at a step, and at each one after a number of further steps, until one ends before it is killed. Repeats it after
 * each kill, unless it was complete.
 */
async function killAndRepeat(
  first: number,
  stride: number,
  toCommand: (path: string) => string[],
  isComplete: (path: string) => boolean,
): Promise<void> {
  for (let step = first; step < 200; step += stride) {
    const path = at(String(names++));
    const command = toCommand(path);
    const nodeArguments = ["--import", KILLER];
    const killed = await runUniknode(command, {
      nodeArguments,
      environment: { UNIKNODE_TEST_KILL_AT: String(step), UNIKNODE_TEST_KILL_IN: path },
    });
    if (killed.code !== null) {
      expect(step).toBeGreaterThan(first);
      return expect(killed).toMatchObject({ code: 0 });
    }
    if (isComplete(path)) continue;
    expect(await runUniknode(command), `after a kill at step ${step}`).toMatchObject({ code: 0 });
  }
}

const has = (file: string) => (path: string) => existsSync(join(path, file));

test("A killed network init is repeated.", () =>
  killAndRepeat(
    4,
    9,
    (path) => ["network", "init", path, "--accounts", "1"],
    (path) => has("network.json")(path) && has("accounts.json")(path),
  ));

test("A killed init is repeated.", () => killAndRepeat(4, 9, (path) => ["init", path], has("package.json")));

test("A killed snapshot create is repeated.", () =>
  killAndRepeat(
    4,
    8,
    (path) => ["snapshot", "create", "--data", at("data"), "--output", path],
    (path) => has("manifest.json")(path) && readManifest(path).head.height === 9,
  ));

test("A killed snapshot restore is repeated.", () =>
  killAndRepeat(
    4,
    17,
    (path) => ["snapshot", "restore", at("snapshot"), "--data", path, ...network],
    has("node.sqlite"),
  ));

test("A killed import is repeated.", () =>
  killAndRepeat(
    4,
    8,
    (path) => ["import", at("blocks"), "--data", path, ...network],
    () => false,
  ));

test("A killed export is repeated, and its file is never a part of the blocks.", async () => {
  await killAndRepeat(1, 1, (path) => ["export", path, "--data", at("data"), ...network], existsSync);
  expect(readdirSync(folder).filter((name) => name.endsWith(".part"))).toEqual([]);
});

test("A killed snapshot create leaves a folder whose verification names the next step.", async () => {
  const path = at("unfinished");
  await runUniknode(["snapshot", "create", "--data", at("data"), "--output", path], {
    nodeArguments: ["--import", KILLER],
    environment: { UNIKNODE_TEST_KILL_AT: "6", UNIKNODE_TEST_KILL_IN: path },
  });
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
