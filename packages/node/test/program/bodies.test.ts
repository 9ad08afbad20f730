/** A forging node whose API receives bodies that use much memory, or cannot be copied between threads. */
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
const FIRST_REQUESTS = 60;
const REQUESTS = 150;
const AT_ONCE = 5;
const MIB = 1024 * 1024;
const MAX_GROWTH_MIB = 64;
/** The memory of the last requests is released soon. */
const POLL = { interval: 500 };

const deep = "[".repeat(4_500) + "]".repeat(4_500);
const many = `[${"{},".repeat(339_999)}{}]`;
const DEEP = `{"transactions":[${deep},${many}]}`;
const MANY = `{"transactions":${many}}`;
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

test("Hostile bodies are refused with the reason, and neither leak memory nor block the node.", async () => {
  const { url, pid } = await start();
  const tooDeep = { status: 422, message: "The body is nested deeper than 64 levels" };
  const tooMany = { status: 422, message: "The body has more than 50000 members and items" };
  const untyped = { status: 422, message: expect.stringMatching(/^"transactions.0" must name a known type/) };
  const kinds: [string, unknown][] = [
    [DEEP, tooDeep],
    [MANY, tooMany],
    [LARGEST, untyped],
  ];
  const postAll = async (requests: number) => {
    let left = requests;
    const client = async () => {
      while (left-- > 0) {
        const [body, response] = present(kinds[left % kinds.length]);
        expect(await post(url, body)).toEqual(response);
      }
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
