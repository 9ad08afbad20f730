/** Lines to descriptors that accept them, or do not. */
import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createLogger } from "../../../src/platform/logging/logger.ts";
import { Lines } from "../../../src/platform/logging/output.ts";
import { missingLinux, skips } from "../../../test-support/process/available.ts";

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-lines-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "lines");
}

function open(path: string, flags: string | number): number {
  const fd = openSync(path, flags);
  onTestFinished(() => closeSync(fd));
  return fd;
}

/** A full pipe, and its output. */
function openPipe() {
  const path = newPath();
  execFileSync("mkfifo", [path]);
  const reader = open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const fd = open(path, constants.O_WRONLY | constants.O_NONBLOCK);
  let text = "";
  function read(): string {
    const piece = Buffer.alloc(1 << 16);
    try {
      for (let bytes = readSync(reader, piece); bytes > 0; bytes = readSync(reader, piece))
        text += piece.toString("utf8", 0, bytes);
    } catch {}
    return text;
  }
  return { fd, read };
}

const isSkipped = skips(missingLinux());
const lineOf = (number: number) => `line ${number} ${"x".repeat(90)}\n`;
const lostLine = (count: number) => `${count} lost\n`;

test("Log lines arrive complete and in order.", async () => {
  const path = newPath();
  const lines = new Lines({ fd: open(path, "w") });
  const written = Array.from({ length: 1_000 }, (_, number) => lineOf(number));
  for (const line of written) lines.write(line);
  await lines.flushed(5_000);
  expect(readFileSync(path, "utf8")).toBe(written.join(""));
  expect(lines.lost()).toBe(0);
});

describe.skipIf(isSkipped)("an unread pipe", () => {
  test("An unread pipe queues lines within the bound; a line in their place counts the lost ones.", async () => {
    const { fd, read } = openPipe();
    const lines = new Lines({ fd, maxWaitingBytes: 10_000, lostLine });
    const reported = () => numbersOf(/^(\d+) lost$/gm).reduce((sum, count) => sum + count, 0);
    const numbersOf = (pattern: RegExp) => [...read().matchAll(pattern)].map(([, number]) => Number(number));
    for (let number = 0; number < 2_000; number++) lines.write(lineOf(number));
    const lost = lines.lost();
    expect(lost).toBeGreaterThan(1_000);
    await expect.poll(reported).toBe(lost);
    lines.write("after\n");
    await expect.poll(read).toMatch(/ lost\nafter\n$/);
    const numbers = numbersOf(/^line (\d+) /gm);
    expect(numbers).toHaveLength(2_000 - lost);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  });

  test("An unread pipe contains complete lines only: another process that writes to it cannot split a line.", async () => {
    const { fd, read } = openPipe();
    const lines = new Lines({ fd });
    const written = Array.from({ length: 2_000 }, (_, number) => lineOf(number)).join("");
    for (let number = 0; number < 2_000; number++) lines.write(lineOf(number));
    const ends = new Set<string | undefined>();
    const readAndNoteEnd = () => {
      const text = read();
      ends.add(text.at(-1));
      return text;
    };
    // The pipe is full after this time, or soon: then a longer write than it accepts at once would be split.
    await lines.flushed(100);
    await expect.poll(readAndNoteEnd).toBe(written);
    expect([...ends]).toEqual(["\n"]);
  });

  test("An unread pipe delays a caller that waits for the last lines until its timeout, not until it is read.", async () => {
    const { fd } = openPipe();
    const lines = new Lines({ fd });
    for (let number = 0; number < 2_000; number++) lines.write(lineOf(number));
    await expect(lines.flushed(200)).resolves.toBeUndefined();
  });
});

test.skipIf(isSkipped)("A full disk loses only log lines.", () => {
  const lines = new Lines({ fd: open("/dev/full", "w"), maxWaitingBytes: 1_000, lostLine });
  for (let number = 0; number < 100; number++) lines.write(lineOf(number));
  expect(lines.lost()).toBeGreaterThan(80);
});

test("A repeated error is logged once a minute, with the number of omissions.", () => {
  const written: { msg: string }[] = [];
  const logger = createLogger("info", { write: (line) => void written.push(JSON.parse(line)) });
  for (let time = 0; time < 5; time++) logger.error({ err: new Error("disk is full") }, "forging failed");
  logger.error({ err: new Error("another") }, "forging failed");
  logger.warn({ err: new Error("disk is full") }, "logged each time");
  logger.warn({ err: new Error("disk is full") }, "logged each time");
  logger.error("logged each time");
  logger.error("logged each time");
  expect(written.map(({ msg }) => msg)).toEqual([
    "forging failed",
    "forging failed",
    ...Array(4).fill("logged each time"),
  ]);
});

test("Errors of a full disk are details without a stack: its state has its own line.", () => {
  const full = Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
  const logged = (level: "info" | "debug") => {
    const written: object[] = [];
    const logger = createLogger(level, { write: (line) => void written.push(JSON.parse(line)) });
    logger.error({ err: new Error("not committed", { cause: full }), height: 4 }, "forging failed");
    return written;
  };
  expect(logged("info")).toEqual([]);
  expect(logged("debug")).toEqual([
    { level: "debug", time: expect.any(Number), height: 4, error: "not committed", msg: "forging failed" },
  ]);
});
