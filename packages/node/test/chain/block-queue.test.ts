/** Parts of a commit: the writer occupies the thread for the whole commit. */
import { expect, onTestFinished, test, vi } from "vitest";
import { type BatchPart, BlockQueue, createBatch } from "../../src/chain/block-queue.ts";
import { TimeSlices } from "../../src/platform/threads/time-slices.ts";
import { network } from "../../test-support/peers/chains.ts";

/** Adds parts to a queue at once. Returns the number of parts of each commit. */
async function commitsOf(parts: number, execute: (part: BatchPart) => void): Promise<number[]> {
  const commits: number[] = [];
  const verifier = {
    verify: () => Promise.reject(new Error("there is nothing to verify")),
    close: () => Promise.resolve(),
  };
  const slices = new TimeSlices({ sliceMs: 10 });
  const queue = new BlockQueue({ network, verifier, now: Date.now, slices }, (ready) => {
    let count = 0;
    for (const part of ready) {
      execute(part);
      count++;
    }
    commits.push(count);
  });
  queue.add(Array.from({ length: parts }, () => ({ batch: createBatch([]), blocks: [] })));
  await queue.idle();
  return commits;
}

test("A commit has at most 16 parts, however many are ready.", async () => {
  const clock = vi.spyOn(performance, "now").mockReturnValue(0);
  onTestFinished(() => clock.mockRestore());
  expect(await commitsOf(40, () => undefined)).toEqual([16, 16, 8]);
});

test.each([
  ["each part takes 30 ms", 30, [4, 4, 2]],
  ["each part takes a second", 1_000, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]],
])("A commit begins no part after 100 ms: %s.", async (_, partMs, commits) => {
  let nowMs = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  onTestFinished(() => clock.mockRestore());
  const execute = () => {
    nowMs += partMs;
  };
  expect(await commitsOf(10, execute)).toEqual(commits);
});
