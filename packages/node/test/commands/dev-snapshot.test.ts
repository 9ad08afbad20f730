/** `uniknode snapshot` for dev chains. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runMain } from "../../test-support/process/main.ts";
import { type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-dev-snapshot-"));
const [data, snapshot, restored] = ["data", "snapshot", "restored"].map((name) => join(folder, name)) as [
  string,
  string,
  string,
];
let node: Running | undefined;

afterAll(async () => {
  node?.child.kill("SIGKILL");
  await node?.ended;
  rmSync(folder, { recursive: true, force: true });
});

async function start(path: string): Promise<Running> {
  node = spawnUniknode(["dev", "--data", path, "--http-port", "0", "--block-time", "3600"]);
  await node.printed(/Ctrl-C stops/);
  return node;
}

test("A snapshot of a dev chain is verified and restored, and the restored chain continues.", async () => {
  const first = await start(data);
  const create = await runMain(["snapshot", "create", "--data", data, "--output", snapshot]);
  expect(create).toMatchObject({ code: 0 });
  expect(readdirSync(snapshot).toSorted()).toEqual(["chain.sqlite.zst", "manifest.json"]);
  first.child.kill("SIGINT");
  await first.ended;
  const verify = await runMain(["snapshot", "verify", snapshot, "--dev-chain", data, "--execute"]);
  expect(verify).toMatchObject({ code: 0, stdout: expect.stringContaining("is valid: block 3 ") });
  const restore = await runMain(["snapshot", "restore", snapshot, "--data", restored, "--dev-chain", data]);
  expect(restore).toMatchObject({ code: 0 });
  const again = await start(restored);
  expect(again.stdout()).toMatch(/dev chain, continued at height 3/);
});
