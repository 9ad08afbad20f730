/**
 * Copies of a dev chain whose clock is ahead of the machine's in other data folders, with the real program.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@uniknode/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { apiUrlOf, runUniknode, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";

/** More than the progress of an import counts in one step. */
const BLOCKS = 1_050;
const folder = mkdtempSync(join(tmpdir(), "uniknode-dev-archive-"));
const at = (name: string) => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TOKEN = "a-token-of-the-test";
const OPTIONS = ["--accounts", "1", "--block-time", "1", "--http-port", "0", "--webhook-token", TOKEN];

/** Runs a dev chain until the work on it is done; returns its last block then. */
async function onDevChain(name: string, work: (url: string) => Promise<unknown>): Promise<number> {
  const node = spawnUniknode(["dev", "--data", at(name), ...OPTIONS]);
  try {
    const url = await apiUrlOf(node);
    await work(url);
    const { data } = (await (await fetch(`${url}/api/blockchain`)).json()) as {
      data: { block: { height: number } };
    };
    return data.block.height;
  } finally {
    node.child.kill("SIGTERM");
    await node.ended;
  }
}

/** On a busy machine, a node needs too long for more blocks in one request. */
const MAX_MINED = 20;

const mine = (blocks: number) => async (url: string) => {
  const client = createClient({ url, webhookToken: TOKEN, timeoutMs: WAIT_MS });
  for (let left = blocks; left > 0; left -= MAX_MINED)
    await client.dev.mine({ blocks: Math.min(left, MAX_MINED) });
};

let height: number;
beforeAll(async () => {
  height = await onDevChain("dev", mine(BLOCKS));
  // The same dev chain, started over: it has no clock of its own.
  mkdirSync(at("started-over"));
  cpSync(join(at("dev"), "dev-chain.json"), join(at("started-over"), "dev-chain.json"));
  const dev = ["--data", at("dev")];
  const created = await runUniknode(["snapshot", "create", ...dev, "--output", at("snapshot")]);
  expect(created.code, created.stderr).toBe(0);
  await runUniknode(["export", at("blocks"), ...dev, "--dev-chain", at("started-over")]);
});

test.each(["dev", "started-over"])(
  "A snapshot is verified, restored and continued with --dev-chain %s.",
  async (name) => {
    const [snapshot, restored] = [at("snapshot"), `restored-${name}`];
    const devChain = ["--dev-chain", at(name)];
    const verified = await runUniknode(["snapshot", "verify", snapshot, "--execute", ...devChain]);
    expect(verified.code, verified.stderr).toBe(0);
    expect(verified.stdout).toContain("is valid: block");
    const written = await runUniknode(["snapshot", "restore", snapshot, "--data", at(restored), ...devChain]);
    expect(written).toMatchObject({ code: 0 });
    // It continues at once: its clock is not behind its head.
    expect(await onDevChain(restored, mine(3))).toBeGreaterThanOrEqual(height + 3);
  },
);

test("The blocks of a dev chain are imported and continued.", async () => {
  const devChain = ["--dev-chain", at("started-over")];
  const imported = await runUniknode(["import", at("blocks"), "--data", at("imported"), ...devChain]);
  expect(imported).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("blocks imported"),
    stderr: expect.stringContaining("importing, 1000 blocks ...\n"),
  });
  expect(await onDevChain("imported", mine(3))).toBeGreaterThanOrEqual(height + 3);
});

test("The blocks that an interrupted import has stored are continued.", async () => {
  const devChain = ["--dev-chain", at("started-over")];
  const bytes = readFileSync(at("blocks"));
  writeFileSync(at("half"), bytes.subarray(0, bytes.length - 10_000));
  const imported = await runUniknode(["import", at("half"), "--data", at("half-imported"), ...devChain]);
  expect(imported).toMatchObject({ code: 1, stderr: expect.stringContaining("truncated") });
  // Its head is ahead of the machine's clock.
  expect(await onDevChain("half-imported", mine(3))).toBeGreaterThan(BLOCKS / 2);
});
