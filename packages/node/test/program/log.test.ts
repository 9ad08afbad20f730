/** A log and an output that cannot be written: the real program continues, and ends on request. */
import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { missingLinux, skips } from "../../test-support/process/available.ts";
import { readMetric, SCRAPES } from "../../test-support/process/metrics.ts";
import { type Faulty, newFolder, PROGRAM, type Stdio, startFaulty } from "./faulty.ts";

type Sink = {
  readonly stdout: Stdio;
  readonly stderr: Stdio;
  /** Action after the start of the program. */
  readonly broken?: (node: Faulty) => void;
};

/** Every write fails as it does on a full disk. */
function fullDisk(): Sink {
  const fd = openSync("/dev/full", "w");
  onTestFinished(() => closeSync(fd));
  return { stdout: fd, stderr: fd };
}

/** A full pipe with a reader that reads nothing. */
function fullPipe(): { fd: number; empty(): string } {
  const path = join(newFolder(), "pipe");
  execFileSync("mkfifo", [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const fd = openSync(path, constants.O_WRONLY);
  const filler = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  onTestFinished(() => [reader, fd, filler].forEach(closeSync));
  for (const bytes of [4_096, 1]) {
    try {
      for (;;) writeSync(filler, " ".repeat(bytes));
    } catch {}
  }
  return {
    fd,
    empty() {
      const piece = Buffer.alloc(1 << 16);
      let text = "";
      try {
        for (let read = readSync(reader, piece); read > 0; read = readSync(reader, piece))
          text += piece.toString("utf8", 0, read);
      } catch {}
      return text;
    },
  };
}

const unreadPipe = (): Sink => ({ stdout: fullPipe().fd, stderr: fullPipe().fd });

const closedPipe = (): Sink => ({
  stdout: "pipe",
  stderr: "pipe",
  broken({ child }) {
    present(child.stdout).destroy();
    present(child.stderr).destroy();
  },
});

const SINKS = [
  ["on a full disk", fullDisk],
  ["to an unread pipe", unreadPipe],
  ["to a closed pipe", closedPipe],
] as const;

describe.skipIf(skips(missingLinux()))("log and output", () => {
  test("A command fails if its output does not fit on the disk, but not if the reader of a pipe has ended.", () => {
    const run = (output: Stdio) => {
      const args = [PROGRAM, "completion", "bash"];
      const { status, stderr } = spawnSync(process.execPath, args, { stdio: ["ignore", output, "pipe"] });
      return { status, stderr: `${stderr}` };
    };
    expect(run(fullDisk().stdout)).toEqual({
      status: 1,
      stderr: expect.stringContaining("was successful, but its output could not be written: ENOSPC"),
    });
    const path = join(newFolder(), "pipe");
    execFileSync("mkfifo", [path]);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const unread = openSync(path, constants.O_WRONLY);
    onTestFinished(() => closeSync(unread));
    closeSync(reader);
    expect(run(unread)).toEqual({ status: 0, stderr: "" });
  });

  test.each(SINKS)(
    "%s prevent the chain neither from forging nor from ending on request",
    async (_, open) => {
      const { broken, ...stdio } = open();
      const node = await startFaulty(stdio);
      broken?.(node);
      await node.forgesOn();
      node.child.kill("SIGTERM");
      expect(await node.ended()).toBe(0);
    },
  );

  test.each(SINKS)("%s do not prevent the end of the node after an uncaught error", async (_, open) => {
    const { broken, ...stdio } = open();
    const node = await startFaulty(stdio);
    broken?.(node);
    await node.fail("throw", "consensus", "out of the blue");
    expect(await node.ended()).toBe(1);
  });

  test("A process that the node has started leaves the output to an unread pipe non-blocking.", async () => {
    const node = await startFaulty(unreadPipe());
    const inspections = () => readMetric(node.url, 'uniknode_database_inspections_total{outcome="sound"}');
    await expect.poll(inspections, SCRAPES).toBe(1);
    await node.forgesOn();
    node.child.kill("SIGTERM");
    expect(await node.ended()).toBe(0);
  });

  test("Log and output that could not be written for a while are written as far as possible later.", async () => {
    const { fd, empty } = fullPipe();
    const node = await startFaulty({ stdout: fd, stderr: "pipe" });
    await node.forgesOn();
    empty();
    await expect.poll(empty).toMatch(/^block \d+ /m);
  });
});
