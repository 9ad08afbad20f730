/** The option `--history` over several starts of the real program. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@uniknode/client";
import { afterAll, afterEach, expect, test } from "vitest";
import { apiUrlOf, type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-history-"));
let running: Running | undefined;

async function stop(): Promise<void> {
  running?.child.kill("SIGTERM");
  await running?.ended;
}
afterEach(stop);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts the dev chain again, and returns the lowest recorded height. */
async function sinceAfterStart(...args: string[]): Promise<number | undefined> {
  await stop();
  running = spawnUniknode(["dev", "--data", folder, "--http-port", "0", "--instant", ...args]);
  const client = createClient({ url: await apiUrlOf(running), timeoutMs: WAIT_MS });
  return (await client.node.configuration()).data.history?.since;
}

test("A history is continued without the option, and removed by --history head.", async () => {
  expect(await sinceAfterStart("--history", "full")).toBe(1);
  expect(await sinceAfterStart()).toBe(1);
  expect(await sinceAfterStart("--history", "head")).toBeUndefined();
  await expect
    .poll(() => running?.stderr())
    .toContain("removing the earlier states, because of --history head");
  expect(await sinceAfterStart()).toBeUndefined();
  // A dev chain has blocks before its first request.
  expect(await sinceAfterStart("--history", "full")).toBeGreaterThan(1);
});
