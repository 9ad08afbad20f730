/** Exit of the real program when one of its threads fails. */
import { renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { people } from "../../test-support/chain/cast.ts";
import { connect, transferOf } from "../../test-support/process/client.ts";
import { startFaulty } from "./faulty.ts";

/** Maximum number of transactions of a request. */
const MAX_POSTED = 40;
const PIPES = { stdout: "pipe", stderr: "pipe" } as const;

describe("the node ends with code 1, and logs the reason", () => {
  test.each([
    ["reject", "consensus"],
    ["throw", "serving"],
  ] as const)(
    "The node ends with code 1, and logs the reason, after an uncaught error (%s in %s).",
    async (fault, thread) => {
      const node = await startFaulty(PIPES);
      await node.fail(fault, thread, "out of the blue");
      expect(await node.ended()).toBe(1);
      expect(node.stderr()).toContain('"level":"fatal"');
      expect(node.stderr()).toContain("out of the blue");
    },
  );

  test.each([
    ["removed", (path: string) => rmSync(path)],
    ["replaced", (path: string) => renameSync(writeOther(path), path)],
  ])(
    "The node ends with code 1, and logs the reason, when its lock file is %s, and it no longer forges.",
    async (_, change) => {
      const node = await startFaulty(PIPES);
      const data = join(node.folder, "data");
      const path = join(data, "lock.sqlite");
      expect([statSync(data).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o700, 0o600]);
      change(path);
      expect(await node.ended()).toBe(1);
      expect(node.stderr()).toContain("lock.sqlite was removed or replaced while the node ran");
    },
  );

  test("The node ends with code 1, and logs the reason, when a part does not close, which it names.", async () => {
    const node = await startFaulty(PIPES);
    await node.fail("hang", "serving", "never");
    node.child.kill("SIGTERM");
    expect(await node.ended()).toBe(1);
    expect(node.stderr()).toMatch(/"part":"serving","msg":"serving has not closed for 5 s"/);
    expect(node.stderr()).toMatch(
      /"part":"serving".*"msg":"shutdown timed out after \d+ s in serving; exiting"/,
    );
  });
});

function writeOther(path: string): string {
  writeFileSync(`${path}.other`, "");
  return `${path}.other`;
}

test("A signature thread that dies is replaced, and the transactions that it had are accepted when they are sent again.", async () => {
  const node = await startFaulty(PIPES);
  const { network, get, submit } = await connect(node.url);
  const [sender, recipient] = [people("account 3"), people("account 4")];
  let { nonce } = (await get(`/api/wallets/${sender.address}`)) as { nonce: string };

  /** Posts so many transfers that a signature thread verifies them; returns the number of accepted ones. */
  async function post(): Promise<number> {
    const nonces = Array.from({ length: MAX_POSTED }, (_, index) => BigInt(nonce) + BigInt(index + 1));
    const { accepted } = await submit(
      nonces.map((next) => transferOf(network, sender, recipient.address, next)),
    );
    if (accepted.length === MAX_POSTED) nonce = `${nonces.at(-1)}`;
    return accepted.length;
  }

  let hasFailed = false;
  const failed = node.fail("throw", "verifier", "out of the blue").finally(() => {
    hasFailed = true;
  });
  // The threads of a lane start when they are needed, and end when another one has replaced them.
  while (!hasFailed) await post();
  await failed;
  await expect.poll(post).toBe(MAX_POSTED);
  await node.forgesOn();
  node.child.kill("SIGTERM");
  expect(await node.ended()).toBe(0);
});
