/** Copies of a running node's chain in other data folders, with the real program. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deriveAccounts } from "../../src/dev-chain/keys.ts";
import { castOf, DEV_ADDRESS_VERSION, devGenesis } from "../../src/dev-chain/network.ts";
import { runMain } from "../../test-support/process/main.ts";
import { writeNetwork } from "../../test-support/process/network.ts";
import { apiUrlOf, type Running, runUniknode, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { until } from "../../test-support/process/until.ts";

const MNEMONIC = "test test test test test test test test test test test junk";
const folder = mkdtempSync(join(tmpdir(), "uniknode-archive-"));
const at = (name: string) => join(folder, name);
const network = ["--network-dir", at("network")];

let node: Running;
let url: string;

beforeAll(async () => {
  writeNetwork(at("network"), devGenesis(castOf(deriveAccounts(MNEMONIC, DEV_ADDRESS_VERSION), 1), 1));
  const options = ["--accounts", "1", "--block-time", "1", "--http-port", "0"];
  node = spawnUniknode(["dev", "--data", at("dev"), ...options]);
  url = await apiUrlOf(node);
  await until("block 10", async () => (await headOf(url)).height >= 10);
});

afterAll(async () => {
  node.child.kill("SIGKILL");
  await node.ended;
  rmSync(folder, { recursive: true, force: true });
});

const headOf = async (base: string) => {
  const response = await fetch(`${base}/api/blockchain`);
  return ((await response.json()) as { data: { block: { height: number; id: string } } }).data.block;
};

test("A snapshot of a running node starts another node at its head.", async () => {
  const before = await headOf(url);
  const created = await runUniknode(["snapshot", "create", "--data", at("dev"), "--output", at("snapshot")]);
  expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/: block \d+ [0-9a-f]{64}, /) });
  expect(node.child.exitCode).toBeNull();

  const verified = await runUniknode(["snapshot", "verify", at("snapshot"), "--execute", ...network]);
  expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining("is valid: block") });

  const restored = await runUniknode([
    "snapshot",
    "restore",
    at("snapshot"),
    "--data",
    at("restored"),
    ...network,
  ]);
  expect(restored.code).toBe(0);
  const other = spawnUniknode(["run", "--data", at("restored"), "--http-port", "0", ...network]);
  const [base] = await other.printed(/^http:\S+$/m);
  const head = await headOf(base);
  other.child.kill("SIGTERM");
  await other.ended;
  expect(head.height).toBeGreaterThanOrEqual(before.height);
  expect(created.stdout).toContain(`block ${head.height} ${head.id}`);
});

test("Blocks that a node exports are imported exactly once.", async () => {
  const exported = await runUniknode(["export", at("blocks"), "--data", at("dev"), "--to", "9", ...network]);
  expect(exported).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("exporting 8 blocks ... 100 %"),
  });
  const again = ["import", at("blocks"), "--data", at("imported"), ...network];
  expect(await runUniknode(again)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^8 blocks imported, 0 skipped; the head is block 9 /),
  });
  expect(await runUniknode(again)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^0 blocks imported, 8 skipped/),
  });
});

test("Messages for invalid calls name the reason.", async () => {
  const refused = async (...args: string[]) => {
    const { code, stderr } = await runMain(args);
    return `${code} ${stderr}`;
  };
  expect(await refused("snapshot", "restore")).toMatch(/^2 .*missing required argument 'SNAPSHOT'/);
  expect(await refused("snapshot", "restore", at("snapshot"))).toMatch(/^2 .*no chain selected/);
  for (const from of ["1", "0x10", "1e3", " 5"])
    expect(await refused("export", "--from", from)).toMatch(/^2 .*A height of 2 or more is expected/);
  expect(await refused("import", at("nowhere"), ...network)).toMatch(/^1 .*does not exist/);
  expect(await refused("snapshot", "create", "--data", at("nothing"))).toMatch(/^1 .*has no chain/);
  const inUse = await refused("import", at("blocks"), "--data", at("dev"), ...network);
  expect(inUse).toMatch(/^1 .*is in use by another uniknode/);
  expect(existsSync(at("nothing"))).toBe(false);
});
