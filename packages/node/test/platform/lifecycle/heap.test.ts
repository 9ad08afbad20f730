import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const HEAP = fileURLToPath(new URL("../../../src/platform/lifecycle/process.ts", import.meta.url));

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
