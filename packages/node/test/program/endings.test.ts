/** Exit of the real program when one of its threads fails. */
import { renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startFaulty } from "./faulty.ts";

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

test("A signature thread that dies is replaced.", async () => {
  const node = await startFaulty(PIPES);
  await node.fail("throw", "verifier", "out of the blue");
  await node.forgesOn();
  node.child.kill("SIGTERM");
  expect(await node.ended()).toBe(0);
});
