import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const HEAP = fileURLToPath(new URL("../../../src/platform/lifecycle/process.ts", import.meta.url));
const LATE = fileURLToPath(new URL("../../../src/platform/text/foreign.ts", import.meta.url));

/**
 * Allocates a burst of objects that live for a while, then does little; prints the size of the heap at the
 * end.
 */
const program = (beforeBurst: string) => `
  import { limitHeapGrowth, saveMemoryWhenIdle } from ${JSON.stringify(HEAP)};
  limitHeapGrowth();
  ${beforeBurst}
  let kept = Array.from({ length: 1_000_000 }, (_, index) => ({ index, text: "text " + index }));
  const work = setInterval(() => Array.from({ length: 100 }, (_, index) => ({ index })), 10);
  setTimeout(() => { kept = undefined; }, 200);
  setTimeout(() => {
    clearInterval(work);
    console.log(Math.round(process.memoryUsage().heapTotal / 2 ** 20));
  }, 11_000);
`;

async function heapMibAfterBurst(beforeBurst: string): Promise<number> {
  const run = ["--input-type=module", "--eval", program(beforeBurst)];
  const { stdout } = await promisify(execFile)(process.execPath, run);
  return Number(stdout);
}

/** Interval of 8 s at which the engine checks whether to save memory. */
test("An idle process releases the memory of a burst, which it would keep otherwise.", async () => {
  const [kept, saved] = await Promise.all([
    heapMibAfterBurst(""),
    heapMibAfterBurst("saveMemoryWhenIdle(200);"),
  ]);
  expect(kept).toBeGreaterThan(60);
  expect(saved).toBeLessThan(30);
});

/** Starts a server that loads its last module after a time. Timers are fast: on a busy machine, a start takes seconds. */
const serverAfter = (delayMs: number) => `
  const setInterval = globalThis.setInterval;
  if (${delayMs} > 0) globalThis.setInterval = (work) => setInterval(work, 10);
  const { serveUntilStopped } = await import(${JSON.stringify(HEAP)});
  await serveUntilStopped({
    log: { logger: { info() {}, fatal: console.error }, lost: () => 0, flushed: async () => {} },
    async start() {
      await new Promise((resolve) => setTimeout(resolve, ${delayMs}));
      await import(${JSON.stringify(LATE)});
      const work = setInterval(() => process.kill(process.pid, "SIGTERM"), 100);
      return { failed: new Promise(() => {}), closing: () => undefined, stop: async () => clearInterval(work) };
    },
  });
`;

test("A slow start on a busy machine uses the compiled code of all modules.", async () => {
  const cache = mkdtempSync(join(tmpdir(), "uniknode-compiled-"));
  onTestFinished(() => rmSync(cache, { recursive: true }));
  const env = { ...process.env, NODE_COMPILE_CACHE: cache, NODE_DEBUG_NATIVE: "COMPILE_CACHE" };
  const start = (delayMs: number) =>
    promisify(execFile)(process.execPath, ["--input-type=module", "--eval", serverAfter(delayMs)], { env });
  await start(0);
  expect((await start(100)).stderr).toMatch(/ESM file:.*foreign\.ts was accepted/);
});
