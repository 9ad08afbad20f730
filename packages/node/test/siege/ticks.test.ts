/** Longest consensus tick and growth of memory in the siege: their measurement, and their bounds. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  BOUNDS,
  emptyRow,
  failures,
  formatRow,
  growthOf,
  type Row,
  SHORT_BOUNDS,
} from "../../../../tools/faults/siege/report.ts";
import { type LongestTick, readTicks, tickRecorder } from "../../../../tools/faults/siege/ticks.ts";
import { present } from "../../src/platform/present.ts";

const BLOCKED_MS = 700;
/** Blocks its main thread, or another thread, for the milliseconds that a line names. */
const PROGRAM = `
  const { Worker } = require("node:worker_threads");
  const wait = (ms) => "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, " + ms + ")";
  process.stdin.setEncoding("utf8").on("data", (line) => {
    const [thread, ms] = line.trim().split(" ");
    console.log("begun");
    if (thread === "main") eval(wait(ms));
    else new Worker(wait(ms), { eval: true }).on("exit", () => console.log("ended"));
  });
`;

describe("The longest tick", () => {
  let folder: string;
  let file: string;
  let child: ChildProcess;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "uniknode-ticks-"));
    file = join(folder, "ticks");
    const { nodeArguments, environment } = tickRecorder(file);
    child = spawn(process.execPath, [...nodeArguments, "-e", PROGRAM], {
      env: { ...process.env, ...environment },
      stdio: ["pipe", "pipe", "inherit"],
    });
  });
  afterEach(async () => {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true });
  });

  const printed = () => once(present(child.stdout), "data");
  async function block(thread: "main" | "other"): Promise<void> {
    present(child.stdin).write(`${thread} ${BLOCKED_MS}\n`);
    await printed();
  }

  test("The longest tick is known as soon as the thread is free again, and counted once.", async () => {
    const ticks = readTicks(file);
    await ticks.take(() => false);
    await block("main");
    // It is blocked now.
    const { ms, wallMs } = await ticks.take(() => false);
    expect(ms).toBeGreaterThan(BLOCKED_MS - 100);
    expect(wallMs).toBeGreaterThanOrEqual(ms);
    expect((await ticks.take(() => false)).ms).toBeLessThan(BLOCKED_MS - 100);
  });

  test("The longest tick is that of the main thread.", async () => {
    const ticks = readTicks(file);
    await ticks.take(() => false);
    await block("other");
    await printed();
    expect((await ticks.take(() => false)).ms).toBeLessThan(BLOCKED_MS - 100);
  });

  test("The longest tick is waited for at most until the process ends.", async () => {
    expect(await readTicks(join(folder, "none")).take(() => true)).toEqual({ ms: 0, wallMs: 0 });
  });
});

describe("A row", () => {
  const rowWith = (longestTick: LongestTick): Row => ({ ...emptyRow("an attack"), longestTick });

  test.each([
    ["short", SHORT_BOUNDS],
    ["long", BOUNDS],
  ])("A row of a %s siege fails if a tick exceeded 200 ms.", (_, bounds) => {
    expect(failures(rowWith({ ms: 200, wallMs: 200 }), bounds)).toEqual([]);
    expect(failures(rowWith({ ms: 201, wallMs: 201 }), bounds)).toEqual(["longest consensus tick: 201 ms"]);
  });

  test("A row excludes the time in which the thread had no processor, but names it.", () => {
    expect(failures(rowWith({ ms: 150, wallMs: 900 }), BOUNDS)).toEqual([]);
    expect(failures(rowWith({ ms: 300, wallMs: 900 }), BOUNDS)).toEqual([
      "longest consensus tick: 300 ms, 900 ms with waits for a processor",
    ]);
  });

  test("A row shows the longest tick.", () => {
    expect(formatRow(rowWith({ ms: 12.4, wallMs: 14 }), BOUNDS)).toContain("12 ms");
  });

  test("A row fails if the memory grew by more than 5 % under a constant load.", () => {
    const row = emptyRow("an attack");
    expect(failures({ ...row, memoryGrowth: 0.05 }, BOUNDS)).toEqual([]);
    expect(failures({ ...row, memoryGrowth: 0.06 }, BOUNDS)).toEqual(["memory: grew by 6.0 %"]);
  });
});

describe("The growth of memory", () => {
  const INTERVAL_MS = 30_000;
  const samples = [...Array(2).fill(900), ...Array(9).fill(100), ...Array(9).fill(110)];

  test("The growth of memory is that from the first half of the samples to the last one, without the first tenth.", () => {
    expect(growthOf(samples, INTERVAL_MS)).toBeCloseTo(0.1);
  });

  test("The growth of memory is 0 in less than ten minutes, in which caches grow.", () => {
    expect(growthOf(samples, INTERVAL_MS - 1)).toBe(0);
  });
});
