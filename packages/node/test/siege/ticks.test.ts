/** Longest consensus tick and growth of memory in the siege: their measurement, and their bounds. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { BOUNDS, growthOf, reportOf, SHORT_BOUNDS } from "../../test-support/faults/siege/report.ts";
import type { Measured } from "../../test-support/faults/siege/siege.ts";
import { type LongestTick, TickReader, tickRecorder } from "../../test-support/faults/siege/ticks.ts";

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
  let printed: string;

  beforeEach(() => {
    printed = "";
    folder = mkdtempSync(join(tmpdir(), "uniknode-ticks-"));
    file = join(folder, "ticks");
    const { nodeArguments, environment } = tickRecorder(file);
    child = spawn(process.execPath, [...nodeArguments, "-e", PROGRAM], {
      env: { ...process.env, ...environment },
      stdio: ["pipe", "pipe", "inherit"],
    });
    present(child.stdout).on("data", (text) => {
      printed += text;
    });
  });
  afterEach(async () => {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true });
  });

  async function block(thread: "main" | "other"): Promise<void> {
    present(child.stdin).write(`${thread} ${BLOCKED_MS}\n`);
    await expect.poll(() => printed).toContain("begun");
  }

  test("The longest tick is known as soon as the thread is free again, and counted once.", async () => {
    const ticks = new TickReader(file);
    await ticks.take(() => false);
    await block("main");
    // It is blocked now.
    const { ms, wallMs } = await ticks.take(() => false);
    expect(ms).toBeGreaterThan(BLOCKED_MS - 100);
    expect(wallMs).toBeGreaterThanOrEqual(ms);
    expect((await ticks.take(() => false)).ms).toBeLessThan(BLOCKED_MS - 100);
  });

  test("The longest tick is that of the main thread.", async () => {
    const ticks = new TickReader(file);
    await ticks.take(() => false);
    await block("other");
    await expect.poll(() => printed).toContain("ended");
    expect((await ticks.take(() => false)).ms).toBeLessThan(BLOCKED_MS - 100);
  });

  test("The longest tick is waited for at most until the process ends.", async () => {
    expect(await new TickReader(join(folder, "none")).take(() => true)).toEqual({ ms: 0, wallMs: 0 });
  });
});

describe("A report of an attack", () => {
  const quiet: Measured = {
    ...{ offered: 0, refused: 0, memoryMib: { before: 0, peak: 0, after: 0 }, memoryGrowth: 0 },
    ...{ client: [], health: [], longestTick: { ms: 0, wallMs: 0 }, faults: [] },
    ...{ slotsForged: 0, slotsMissed: 0, expectedMisses: 0, otherMisses: [] },
  };
  const faultsOf = (measured: Partial<Measured>, bounds = BOUNDS) =>
    reportOf({ ...quiet, ...measured }, bounds).faults;
  const faultsWith = (longestTick: LongestTick, bounds = BOUNDS) => faultsOf({ longestTick }, bounds);

  test.each([SHORT_BOUNDS, BOUNDS])("A report with %o has a fault if a tick exceeded 200 ms.", (bounds) => {
    expect(faultsWith({ ms: 200, wallMs: 200 }, bounds)).toEqual([]);
    expect(faultsWith({ ms: 201, wallMs: 201 }, bounds)).toEqual(["longest consensus tick: 201 ms"]);
  });

  test("A report excludes the time in which the thread had no processor, but names it.", () => {
    expect(faultsWith({ ms: 150, wallMs: 900 })).toEqual([]);
    expect(faultsWith({ ms: 300, wallMs: 900 })).toEqual([
      "longest consensus tick: 300 ms, 900 ms with waits for a processor",
    ]);
    const missed = (wallMs: number) => faultsOf({ slotsMissed: 1, longestTick: { ms: 150, wallMs } });
    expect([missed(1_150), missed(1_151)]).toEqual([["slots missed: 1"], []]);
  });

  test("A report has a fault for memory, refused requests, slow responses and missed slots beyond their bounds.", () => {
    const health = [{ path: "/health/live", status: 200, ms: 501 }];
    const client = [{ path: "/api/v2/blocks", status: 503, ms: 1 }];
    expect(
      faultsOf({
        memoryMib: { before: 1, peak: 90, after: 65 },
        health: [],
        slotsMissed: 1,
        expectedMisses: 1,
      }),
    ).toEqual([]);
    expect(
      faultsOf({
        ...{ memoryMib: { before: 0, peak: 90, after: 65 }, health, client },
        ...{ slotsMissed: 2, expectedMisses: 1, otherMisses: ["slot 7"] },
      }),
    ).toEqual([
      ...["memory: 65 MiB more than before", "health: p99 501 ms", "slots missed: 1; slot 7"],
      "honest requests refused: 1 x 503 /api/v2/blocks",
    ]);
  });

  test("A report has a fault if the memory grew by more than 5 % under a constant load.", () => {
    expect(faultsOf({ memoryGrowth: 0.05 })).toEqual([]);
    expect(faultsOf({ memoryGrowth: 0.06 })).toEqual(["memory: grew by 6.0 %"]);
  });
});

test("The growth of memory is that from the first half of the samples to the last one, without the first tenth; 0 in less than ten minutes.", () => {
  const samples = [...Array(2).fill(900), ...Array(9).fill(100), ...Array(9).fill(110)];
  expect(growthOf(samples, 30_000)).toBeCloseTo(0.1);
  expect(growthOf(samples, 29_999)).toBe(0);
});
