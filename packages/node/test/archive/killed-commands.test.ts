/** Commands that write files are stopped before each step on the file system, and repeated. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { importBlocks } from "../../src/archive/import.ts";
import { DATABASE_FILE, MANIFEST_FILE, readManifest } from "../../src/archive/manifest.ts";
import { restoreSnapshot } from "../../src/archive/restore.ts";
import { createChainSnapshot } from "../../src/archive/snapshot.ts";
import { exportBlocks } from "../../src/archive/stream.ts";
import { storedNethash } from "../../src/chain/stores.ts";
import { createProject } from "../../src/commands/init.ts";
import {
  adoptFolder,
  CLOCK_FILE,
  claimFolder,
  DevClock,
  isDevFolder,
  resetFolder,
} from "../../src/dev-chain/folder.ts";
import { type Archived, archiveFixture } from "../../test-support/archive/fixture.ts";
import { isStoppedAfter } from "../../test-support/process/file-steps.ts";
import { runMain } from "../../test-support/process/main.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-kills-"));
let names = 0;
const newPath = () => join(folder, String(names++));
let archived: Archived;
/** Data folder with the first blocks of that chain. */
let data: string;
let snapshot: string;
const blocks = (from: string) =>
  exportBlocks({ data: from, network: archived.deps.network, from: 2, to: HEIGHT, onProgress: () => {} });

/** Folder of a dev chain whose clock is ahead. */
const devChain = newPath();
const SHAPE = { mnemonic: "test", accounts: 1, blockTime: 1 };
const AHEAD_MS = 3_600_000;
const HEIGHT = 9;

const create = (output: string) =>
  createChainSnapshot({
    ...{ data, output, program: "test" },
    ...{ nowMs: Date.now, onProgress: () => {} },
  });

beforeAll(async () => {
  archived = await archiveFixture("chain-1");
  data = newPath();
  await importBlocks(blocks(archived.data), data, archived.deps);
  snapshot = newPath();
  await create(snapshot);
  mkdirSync(devChain);
  claimFolder(devChain, SHAPE, archived.deps.network.description.nethash);
  new DevClock(join(devChain, CLOCK_FILE)).moveTo(Date.now() + AHEAD_MS);
});
afterAll(() => {
  archived.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** Stops work on a new folder before each of its steps, and calls `check` after each stop. */
async function stopEverywhere(
  work: (path: string) => unknown,
  check: (path: string) => unknown,
): Promise<void> {
  for (let steps = 0; ; steps++) {
    const path = newPath();
    const isStopped = await isStoppedAfter(steps, () => work(path));
    await check(path);
    rmSync(path, { recursive: true, force: true });
    if (!isStopped) return expect(steps).toBeGreaterThan(5);
  }
}

const filesIn = (path: string) => readdirSync(path, { recursive: true, encoding: "utf8" }).sort();

test("A stopped network init is repeated, and its folder never has a network without its keys.", async () => {
  const init = (path: string, nodes: number) =>
    runMain(["network", "init", path, "--name", "mine", "--accounts", "1", "--nodes", String(nodes)]);
  const stop = async (path: string) => {
    const { code, stderr } = await init(path, 3);
    if (code !== 0) throw new Error(stderr);
  };
  // Loads the command.
  await stop(newPath());
  await stopEverywhere(stop, async (path) => {
    const isComplete = existsSync(join(path, "network.json"));
    const { code, stderr } = await init(path, 2);
    if (isComplete) expect(stderr).toMatch(/is complete|is not empty/);
    else expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const delegates = ["delegates-1.json", "delegates-2.json", ...(isComplete ? ["delegates-3.json"] : [])];
    expect(filesIn(path)).toEqual([
      "accounts.json",
      ...delegates,
      "exceptions.json",
      "genesisBlock.json",
      "milestones.json",
      "network.json",
    ]);
    const read = (name: string) => JSON.parse(readFileSync(join(path, name), "utf8"));
    const { factory } = read("accounts.json");
    const block = read("genesisBlock.json");
    expect(JSON.stringify(block)).toContain(factory.address);
    expect(read("network.json").nethash).toBe(block.payloadHash);
  });
});

test("A stopped init of a project is repeated.", async () => {
  const complete = newPath();
  await createProject(complete);
  await stopEverywhere(
    (path) => createProject(path),
    async (path) => {
      const isComplete = existsSync(join(path, "package.json"));
      if (isComplete) await expect(createProject(path)).rejects.toThrow(/is complete|is not empty/);
      else await createProject(path);
      expect(filesIn(path)).toEqual(filesIn(complete));
    },
  );
});

test("A stopped creation of a snapshot is repeated.", async () => {
  const { state } = readManifest(snapshot);
  await stopEverywhere(create, async (path) => {
    if (existsSync(join(path, MANIFEST_FILE)))
      await expect(create(path)).rejects.toThrow(/is complete|is not empty/);
    else await create(path);
    expect(filesIn(path)).toEqual([DATABASE_FILE, MANIFEST_FILE]);
    expect(readManifest(path).state).toBe(state);
  });
});

const adopted = (path: string) => ({
  ...archived.deps,
  claimFolder: () => adoptFolder(path, devChain, archived.deps.network),
});

/** Checks that a folder with a chain is a dev chain with its clock. */
function expectAdopted(path: string): void {
  expect(isDevFolder(path)).toBe(true);
  const clock = new DevClock(join(path, CLOCK_FILE));
  expect(clock.nowMs() - Date.now()).toBeGreaterThan(AHEAD_MS / 2);
}

test("A stopped restore is repeated, and its folder never has a chain that is not the dev chain's.", async () => {
  const restore = (path: string) => restoreSnapshot(snapshot, path, adopted(path));
  await stopEverywhere(restore, async (path) => {
    if (existsSync(join(path, "node.sqlite"))) {
      expectAdopted(path);
      await expect(restore(path)).rejects.toMatchObject({ code: "ARCHIVE_EXISTS" });
    } else await restore(path);
    expectAdopted(path);
    expect(filesIn(path)).toEqual(["dev-chain.json", CLOCK_FILE, "lock.sqlite", "node.sqlite"]);
  });
});

test("A stopped import is repeated, and its folder never has a block that is not the dev chain's.", async () => {
  const load = (path: string) => importBlocks(blocks(data), path, adopted(path));
  await stopEverywhere(load, async (path) => {
    if (storedNethash(join(path, "node.sqlite")) !== undefined) expectAdopted(path);
    expect((await load(path)).head.height).toBe(HEIGHT);
    expectAdopted(path);
  });
});

test("A stopped reset is repeated.", async () => {
  const claimed = (path: string) => {
    cpSync(devChain, path, { recursive: true });
    cpSync(join(data, "node.sqlite"), join(path, "node.sqlite"));
  };
  for (let steps = 0, isStopped = true; isStopped; steps++) {
    const path = newPath();
    claimed(path);
    isStopped = await isStoppedAfter(steps, () => resetFolder(path));
    if (isDevFolder(path)) resetFolder(path);
    expect(filesIn(path).filter((name) => !name.endsWith(".holder"))).toEqual(["lock.sqlite"]);
  }
});
