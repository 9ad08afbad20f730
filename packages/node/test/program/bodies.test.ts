/** A forging node whose API receives the largest bodies that reach its consensus thread. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { apiUrlOf, spawnUniknode } from "../../test-support/process/uniknode.ts";

/**
 * Warm-up requests: afterwards the heaps of both threads have their working size, so that further growth is a
 * leak.
 */
const FIRST_REQUESTS = 20;
const REQUESTS = 50;
const AT_ONCE = 5;
const MIB = 1024 * 1024;
const MAX_GROWTH_MIB = 64;
/** The memory of the last requests is released soon. */
const POLL = { interval: 500 };

/** The largest body that may reach the consensus thread. */
const LARGEST = JSON.stringify({
  transactions: Array(40).fill({ asset: { a: Array(1_200).fill("a".repeat(16)) } }),
});

function residentMib(pid: number): number {
  const [, kib] = present(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")));
  return (Number(kib) * 1024) / MIB;
}

async function start() {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-bodies-"));
  const node = spawnUniknode(["dev", "--data", folder, "--http-port", "0", "--block-time", "1"]);
  onTestFinished(async () => {
    node.child.kill("SIGTERM");
    await node.ended;
    rmSync(folder, { recursive: true });
  });
  const url = await apiUrlOf(node);
  return { url: `${url}/api`, pid: present(node.child.pid) };
}

async function heightOf(url: string): Promise<number> {
  const { data } = (await (await fetch(`${url}/blockchain`)).json()) as {
    data: { block: { height: number } };
  };
  return data.block.height;
}

async function post(url: string, body: string) {
  const response = await fetch(`${url}/transactions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  return { status: response.status, message: ((await response.json()) as { message: string }).message };
}

test("The largest bodies are refused with the reason, and neither leak memory nor block the node.", async () => {
  const { url, pid } = await start();
  const untyped = { status: 422, message: expect.stringMatching(/^"transactions.0" must name a known type/) };
  const postAll = async (requests: number) => {
    let left = requests;
    const client = async () => {
      while (left-- > 0) expect(await post(url, LARGEST)).toEqual(untyped);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));
  };
  await postAll(FIRST_REQUESTS);
  const beforeMib = residentMib(pid);
  const height = await heightOf(url);
  await postAll(REQUESTS);

  await expect.poll(() => heightOf(url), POLL).toBeGreaterThan(height + 1);
  await expect.poll(() => residentMib(pid) - beforeMib, POLL).toBeLessThan(MAX_GROWTH_MIB);
});
